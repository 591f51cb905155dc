/** Forgetting, in bounded steps: one shard after the other, each step a script that looks again before it deletes. */
import { addressId } from '../../core/receipt.js'
import type { Purged, ReceiptClaim } from '../../store.js'
import { cut } from './batches.js'
import { epochText, EXPIRED_NOTE } from './codec.js'
import { bringUpToDate } from './indexing.js'
import type { Shard } from './layout.js'
import type { Session } from './session.js'
import { DUE, PURGE } from './upkeep.js'

/** Longer ones would keep the server from everything else for too long. */
const STEP = 500

export async function purge(session: Session, limit: number, auditMs: number): Promise<Purged> {
  const { layout } = await session.ready()
  let receipts = 0
  let events = 0
  for (const shard of layout.shards) {
    await bringUpToDate(session, shard)
    for (let more = true; more;) {
      // More events may be gone than were asked for, never more receipts.
      const most = { receipts: Math.min(limit - receipts, STEP), events: Math.min(limit - events, STEP) }
      if (most.receipts === 0 && most.events <= 0) return { receipts, events }
      const step = await purgeStep(session, shard, most, auditMs)
      receipts += step.receipts
      events += step.events
      more = step.more
    }
  }
  return { receipts, events }
}

async function purgeStep(
  session: Session,
  shard: Shard,
  most: Purged,
  auditMs: number,
): Promise<Purged & { readonly more: boolean }> {
  const counts = [String(most.receipts), String(most.events), String(auditMs)]
  const [dropped, ...due] = await session.write(DUE, [shard.ends, shard.journal, shard.indexed], counts)
  const events = Number(dropped)
  const receipts =
    due.length === 0
      ? 0
      : await forgetIn(
          session,
          shard,
          due.map((id) => shard.receipts + id),
        )
  // What somebody else took over in this moment is left to the next call.
  const more = (receipts > 0 && receipts === most.receipts) || (events > 0 && events >= most.events)
  return { receipts, events, more }
}

/** `epochs`, where they are given: only those that are still these claims. */
async function forgetIn(
  session: Session,
  shard: Shard,
  receipts: readonly string[],
  epochs: readonly string[] = [],
): Promise<number> {
  const keys = [shard.ends, shard.all, shard.journal, shard.floor, ...receipts]
  const [count] = await session.write(PURGE, keys, [EXPIRED_NOTE, ...epochs])
  return Number(count)
}

export async function forget(session: Session, claims: readonly ReceiptClaim[]): Promise<number> {
  const { layout } = await session.ready()
  // Named twice, it would be counted twice. Under another epoch it is another claim, and at most one of them is there.
  const once = [...new Map(claims.map((claim) => [`${claim.epoch} ${addressId(claim)}`, claim])).values()]
  const cuts = cut(
    layout,
    once,
    (claim) => claim,
    () => 0,
  )
  let forgotten = 0
  for (const { shard, items, keys } of cuts) {
    const epochs = items.map(({ epoch }) => epochText(epoch))
    forgotten += await forgetIn(session, shard, keys, epochs)
  }
  return forgotten
}
