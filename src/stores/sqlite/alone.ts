/**
 * The owner's last word, alone: one statement that is its own transaction, which a lone caller gets sooner than one
 * that is begun and committed around it. It compares all that a transaction would have read first. Undefined: it was
 * not that simple, nothing was written, and a transaction has to find out.
 */
import type { Swap } from '../../store.js'
import type { Connection } from './connection.js'
import { isSettlement, settlement, type SwapAnswer } from './swap.js'

export function settleAlone(
  { sql, catalogue, now: clock }: Connection,
  changes: readonly Swap[],
): { readonly now: number; readonly answers: readonly SwapAnswer[] } | undefined {
  const [change] = changes
  if (!catalogue.isRead || !change || changes.length > 1 || !isSettlement(change)) return undefined
  const [id] = catalogue.candidates(change.next)
  if (id === undefined) return undefined
  const now = clock()
  const { changes: made } = sql.settleAlone.run(...settlement(change, id, now))
  return Number(made) === 1 ? { now, answers: [change.next.epoch] } : undefined
}
