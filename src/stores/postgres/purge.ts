/** Forgetting what has ended, in bounded batches that wait for nobody; several processes may do it at once. */
import type { Purged, ReceiptClaim } from '../../store.js'
import { ArrayParam } from './arrays.js'
import { type Desk, send } from './desk.js'
import { digestOf } from './digest.js'

export async function purge(desk: Desk, limit: number, auditMs: number): Promise<Purged> {
  await desk.frontier.advance()
  const [receipts] = await send(desk.driver, desk.sql.purge(limit), [])
  return { receipts: Number(receipts?.[0]), events: await purgeAudit(desk, limit, auditMs) }
}

/** Fewer than the limit only where there are no more: what one statement leaves to others, the next one takes. */
async function purgeAudit(desk: Desk, limit: number, auditMs: number): Promise<number> {
  let dropped = 0
  while (dropped < limit) {
    const [events] = await send(desk.driver, desk.sql.purgeAudit, [limit - dropped, auditMs])
    const some = Number(events?.[0])
    if (some === 0) break
    dropped += some
  }
  return dropped
}

/** What somebody has locked is in use, and stays. */
export async function forget(desk: Desk, claims: readonly ReceiptClaim[]): Promise<number> {
  if (claims.length === 0) return 0
  const [gone] = await send(desk.driver, desk.sql.forget, [
    new ArrayParam('uuid', claims.map(digestOf)),
    new ArrayParam(
      'number',
      claims.map(({ epoch }) => epoch),
    ),
  ])
  return Number(gone?.[0])
}
