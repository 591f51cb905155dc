/** The types of spin.mjs, for the tests. */
export interface Verdict {
  readonly states: number
  readonly depth: number
  readonly errors: number
  readonly violation: string | undefined
  readonly complete: boolean
}

export function read(output: string): Verdict
