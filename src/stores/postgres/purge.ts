/** Forgetting what has ended, in bounded batches that wait for nobody; several processes may do it at once. */
import type { Purged } from '../../store.js'
import { type Desk, send } from './desk.js'

export async function purge(desk: Desk, limit: number, auditMs: number): Promise<Purged> {
  await desk.frontier.advance()
  const [receipts] = await send(desk.driver, desk.sql.purge(limit), [])
  const [events] = await send(desk.driver, desk.sql.purgeAudit, [limit, auditMs])
  return { receipts: Number(receipts?.[0]), events: Number(events?.[0]) }
}
