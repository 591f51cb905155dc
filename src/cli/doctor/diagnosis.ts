/** What a part of the doctor found out about its area. */
import type { StoreFinding } from '../../store.js'

export interface Diagnosis {
  readonly area: string
  readonly facts: Readonly<Record<string, string | number | boolean>>
  readonly findings: readonly StoreFinding[]
}
