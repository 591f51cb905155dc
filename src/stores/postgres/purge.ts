/** Forgetting what has ended, in bounded batches that wait for nobody; several processes may do it at once. */
import type { Purged, ReceiptClaim } from '../../store.js'
import { ArrayParam } from './arrays.js'
import { type Desk, send } from './desk.js'
import { digestOf } from './digest.js'

export async function purge(desk: Desk, limit: number, auditMs: number): Promise<Purged> {
  await desk.frontier.advance()
  const [receipts] = await send(desk.driver, desk.sql.purge(limit), [])
  const [events] = await send(desk.driver, desk.sql.purgeAudit, [limit, auditMs])
  return { receipts: Number(receipts?.[0]), events: Number(events?.[0]) }
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
