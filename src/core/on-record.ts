/** What a person says of a receipt or a run goes on record: nothing is changed by nobody, or for no reason. */
import { invalidIntent } from './errors.js'

const LONGEST = 1_000

export function mustSay(field: 'by' | 'why', said: unknown): void {
  if (typeof said === 'string' && said.trim() !== '' && said.length <= LONGEST) return
  throw invalidIntent(
    `${field} is not a text of 1 to ${LONGEST} characters`,
    `say ${field === 'by' ? 'who' : 'why'}, as in { by, why }: it goes on record`,
  )
}
