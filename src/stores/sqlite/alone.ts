/**
 * A first claim, and the owner's last word on it, alone: one statement that is its own transaction, which a lone caller
 * gets sooner than one that is begun and committed around it. It compares all that a transaction would have read first.
 * Undefined: it was not that simple, nothing was written, and a transaction has to find out.
 */
import { type Draft, nextEpoch } from '../../core/receipt.js'
import type { Swap } from '../../store.js'
import { claimFirst, isFirst } from './claim.js'
import type { Connection } from './connection.js'
import { isConstraint } from './errors.js'
import { identity, isMade, isSettlement, settlement, type SwapAnswer } from './swap.js'

/**
 * Whoever else claims something takes the next id, which is what this claim takes too: a row that can be inserted
 * under it says that there are no claims that this connection has not read.
 */
export function claimAlone(
  { sql, catalogue, now: clock }: Connection,
  drafts: readonly Draft[],
): { readonly now: number; readonly answers: readonly number[] } | undefined {
  const [draft] = drafts
  if (!catalogue.isQuiet || !draft || drafts.length > 1 || !isFirst(draft)) return undefined
  if (catalogue.candidates(draft).length > 0) return undefined
  const now = clock()
  const epoch = draft.epoch ?? nextEpoch(now, catalogue.floorEpoch)
  try {
    claimFirst(sql.claimAlone, catalogue.give(draft), draft, epoch, now)
    catalogue.committed()
    return { now, answers: [epoch] }
  } catch (error) {
    catalogue.forget()
    if (isConstraint(error)) return undefined
    throw error
  }
}

export function settleAlone(
  { sql, catalogue, now: clock }: Connection,
  changes: readonly Swap[],
): { readonly now: number; readonly answers: readonly SwapAnswer[] } | undefined {
  const [change] = changes
  if (!catalogue.isRead || !change || changes.length > 1 || !isSettlement(change)) return undefined
  const given = catalogue.given.take(change.next)
  const id = given ?? catalogue.candidates(change.next)[0]
  if (id === undefined) return undefined
  const now = clock()
  const values = settlement(change, id, now)
  const result =
    given === undefined
      ? sql.settleAlone.run(...values, ...identity(change))
      : sql.settleGivenAlone.run(...values)
  return isMade(result) ? { now, answers: [change.next.epoch] } : undefined
}
