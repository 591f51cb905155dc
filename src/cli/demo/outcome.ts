/**
 * What a storm came to, counted from what the ledger API, the e-mail sink and the queue wrote down themselves. Nothing
 * here asks ibid: a guard that is wrong about its own work is found out.
 */
import type { Book } from './book.js'
import type { Arm, Layer } from './layers.js'
import { type Storm, type Trouble, TROUBLES } from './storm.js'

export interface ByTrouble {
  /** Charges that had this trouble and no other. */
  readonly charges: number
  readonly duplicateRefunds: number
  readonly duplicateMails: number
}

export interface Outcome {
  readonly arm: string
  readonly layers: readonly Layer[]
  /** Charges that were to be refunded. */
  readonly refunds: number
  /** Charges that were refunded more than once. */
  readonly duplicateRefunds: number
  /** What was paid out beyond the first refund of each. */
  readonly overpaidCents: number
  /** Charges that were confirmed more than once. */
  readonly duplicateMails: number
  /** Neither refunded nor held. */
  readonly lostRefunds: number
  /** Neither confirmed nor held. */
  readonly lostMails: number
  /** In the dead letters: nobody can know without looking. */
  readonly held: number
  /** From the first webhook to the first confirmation. */
  readonly medianMs: number
  readonly p99Ms: number
  readonly kills: number
  readonly byTrouble: Readonly<Record<Trouble, ByTrouble>>
}

export interface Counted {
  readonly storm: Storm
  readonly arm: Arm
  readonly refunds: Book
  readonly mails: Book
  /** Charges whose messages are dead letters. */
  readonly dead: ReadonlySet<string>
  readonly firstSentMs: ReadonlyMap<string, number>
  readonly kills: number
}

export function outcomeOf({ storm, arm, refunds, mails, dead, firstSentMs, kills }: Counted): Outcome {
  const refunded = timesByCharge(refunds)
  const mailed = timesByCharge(mails)
  const charges = storm.charges.map(({ charge, amountCents, troubles }) => ({
    charge,
    amountCents,
    troubles,
    refunds: refunded.get(charge)?.length ?? 0,
    mails: mailed.get(charge)?.length ?? 0,
    isHeld: dead.has(charge),
    tookMs: Math.min(...(mailed.get(charge) ?? [])) - (firstSentMs.get(charge) ?? 0),
  }))
  const took = charges
    .map(({ tookMs }) => tookMs)
    .filter(Number.isFinite)
    .toSorted((a, b) => a - b)
  type Counting = (typeof charges)[number]
  const count = (is: (charge: Counting) => boolean): number => charges.filter(is).length
  const only = (trouble: Trouble) => (charge: Counting) =>
    charge.troubles.length === 1 && charge.troubles[0] === trouble
  return {
    arm: arm.name,
    layers: arm.layers,
    refunds: charges.length,
    duplicateRefunds: count(isRefundedTwice),
    overpaidCents: charges.reduce((sum, each) => sum + Math.max(0, each.refunds - 1) * each.amountCents, 0),
    duplicateMails: count(isMailedTwice),
    lostRefunds: count((each) => each.refunds === 0 && !each.isHeld),
    lostMails: count((each) => each.mails === 0 && !each.isHeld),
    held: count(({ isHeld }) => isHeld),
    medianMs: at(took, 0.5),
    p99Ms: at(took, 0.99),
    kills,
    byTrouble: Object.fromEntries(
      TROUBLES.map((trouble) => [
        trouble,
        {
          charges: count(only(trouble)),
          duplicateRefunds: count((each) => only(trouble)(each) && isRefundedTwice(each)),
          duplicateMails: count((each) => only(trouble)(each) && isMailedTwice(each)),
        },
      ]),
    ) as Record<Trouble, ByTrouble>,
  }
}

/** No duplicate and no loss: what all layers together have to come to, whatever the seed. */
export function isClean(outcome: Outcome): boolean {
  const { duplicateRefunds, duplicateMails, lostRefunds, lostMails } = outcome
  return duplicateRefunds + duplicateMails + lostRefunds + lostMails === 0
}

const isRefundedTwice = ({ refunds }: { readonly refunds: number }): boolean => refunds > 1
const isMailedTwice = ({ mails }: { readonly mails: number }): boolean => mails > 1

/** The times of all effects of each charge. */
function timesByCharge(book: Book): ReadonlyMap<string, readonly number[]> {
  const times = new Map<string, number[]>()
  for (const { charge, atMs } of book.all()) times.set(charge, [...(times.get(charge) ?? []), atMs])
  return times
}

function at(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}
