/** A property of an endpoint that does each action once: a name, what it says, and a test that finds out. */
import type { Bench } from './bench.js'
import type { Answer } from './target.js'
import type { Finding } from './verdict.js'

export interface Property {
  /** For --only and --skip, and for machines: `same-key-twice`. */
  readonly id: string
  /** What holds where it holds. */
  readonly about: string
  readonly test: (bench: Bench) => Promise<Finding>
}

/** An answer that no caller can do anything with. */
export function isBroken({ kind }: Answer): boolean {
  return kind === 'failed' || kind === 'lost'
}

/**
 * What a retry was told that should have got a result. A refusal that is final is honest; waiting for ever is
 * not.
 */
export function stuckOrBroken(answer: Answer, patienceMs: number): string | undefined {
  if (answer.kind === 'wait') return `still told to come back (${answer.said}) after ${patienceMs / 1_000} s`
  return isBroken(answer) ? `the retry got ${answer.said}` : undefined
}
