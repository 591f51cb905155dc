/**
 * THE state machine. The table is data; the functions under it only read it. No I/O, no clock: `now` comes
 * from the store, in the same operation as the receipt that is judged.
 *
 * The fingerprint is compared first, before any state is looked at. Absent and expired are the same thing to
 * a claim. Succeeded and failed never change.
 */
import type { Receipt, Recovery, State } from './receipt.js'

/** What a stored receipt looks like to the table: its state, and for how long that state is still good. */
export type Condition = State | 'lapsed' | 'exhausted' | 'expired'

export type Event =
  | 'claim'
  | 'sweep'
  | 'renew'
  | 'lapse'
  | 'succeed'
  | 'fail'
  | 'release'
  | 'doubt'
  | 'resolve'

export interface Row {
  readonly from: Condition
  readonly event: Event
  /** Only for this recovery policy. */
  readonly when?: readonly Recovery[]
  readonly to: State
  /** A new token and a new epoch: the receipt changes hands. */
  readonly newAttempt?: true
  /** Counts against the cap on attempts. */
  readonly counts?: true
}

/** Whatever is not here is not allowed. A claim that finds no row gets an answer, and nothing is written. */
export const TABLE: readonly Row[] = [
  { from: 'expired', event: 'claim', to: 'pending', newAttempt: true },
  { from: 'released', event: 'claim', to: 'pending', newAttempt: true },
  { from: 'lapsed', event: 'claim', when: ['retry', 'check'], to: 'pending', newAttempt: true, counts: true },
  { from: 'lapsed', event: 'claim', when: ['atomic'], to: 'pending', newAttempt: true },
  { from: 'lapsed', event: 'sweep', when: ['atomic'], to: 'released' },
  { from: 'lapsed', event: 'claim', when: ['hold'], to: 'unknown' },
  { from: 'lapsed', event: 'sweep', when: ['hold'], to: 'unknown' },
  { from: 'exhausted', event: 'claim', to: 'unknown' },
  { from: 'exhausted', event: 'sweep', to: 'unknown' },
  { from: 'pending', event: 'renew', to: 'pending' },
  { from: 'pending', event: 'lapse', to: 'pending' },
  { from: 'pending', event: 'succeed', to: 'succeeded' },
  { from: 'pending', event: 'fail', to: 'failed' },
  { from: 'pending', event: 'release', to: 'released' },
  { from: 'pending', event: 'doubt', to: 'unknown' },
  { from: 'unknown', event: 'resolve', to: 'succeeded' },
  { from: 'unknown', event: 'resolve', to: 'failed' },
  { from: 'unknown', event: 'resolve', to: 'released' },
]

/**
 * The condition of a receipt at `now`. Exhausted: lapsed, and either its attempts are used up or nobody came
 * back for it in a whole window, so that a claim would be a late duplicate.
 */
export function conditionOf(receipt: Receipt, now: number): Condition {
  const { state, until } = receipt
  if (until === null || now < until || state === 'unknown') return state
  if (state !== 'pending') return 'expired'
  if (receipt.recovery === 'hold' || receipt.recovery === 'atomic') return 'lapsed'
  const usedUp = receipt.attempt >= receipt.maxAttempts || now >= until + receipt.windowMs
  return usedUp ? 'exhausted' : 'lapsed'
}

export function findRow(from: Condition, event: Event, recovery: Recovery, to?: State): Row | undefined {
  return TABLE.find(
    (row) =>
      row.from === from &&
      row.event === event &&
      (row.when === undefined || row.when.includes(recovery)) &&
      (to === undefined || row.to === to),
  )
}

/** The stricter of the policy a receipt was claimed with and the one a later caller declares. */
export function stricter(stored: Recovery, declared: Recovery): Recovery {
  switch (stored) {
    case 'hold':
    case 'atomic':
      return stored
    case 'check':
      // A check that only the first caller had cannot be run by this one.
      return declared === 'check' ? 'check' : 'hold'
    case 'retry':
      return declared === 'atomic' ? 'retry' : declared
  }
}

/** What a claim of `fingerprint` is told about the receipt that is already there. */
export type Decision =
  | { readonly kind: 'conflict' }
  | { readonly kind: 'replay' }
  | { readonly kind: 'in_flight'; readonly retryAfterMs: number }
  | { readonly kind: 'unknown' }
  /** Write this row's state if the receipt is still the same; then look at what came of it. */
  | { readonly kind: 'move'; readonly row: Row }

export function decide(found: Receipt, fingerprint: string, declared: Recovery, now: number): Decision {
  const condition = conditionOf(found, now)
  if (condition === 'expired') return { kind: 'move', row: must(condition, 'claim', declared) }
  if (found.fingerprint !== fingerprint) return { kind: 'conflict' }
  if (condition === 'succeeded' || condition === 'failed') return { kind: 'replay' }
  if (condition === 'unknown') return { kind: 'unknown' }
  if (condition === 'pending')
    return { kind: 'in_flight', retryAfterMs: Math.ceil((found.until as number) - now) }
  return { kind: 'move', row: must(condition, 'claim', stricter(found.recovery, declared)) }
}

function must(from: Condition, event: Event, recovery: Recovery): Row {
  return findRow(from, event, recovery) as Row
}
