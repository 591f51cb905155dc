/** Forgetting what has ended, in bounded batches that wait for nobody; several processes may do it at once. */
import type { Purged } from '../../store.js'
import { type Desk, send } from './desk.js'
import { wasLocked } from './errors.js'
import { ADVANCE_BY } from './statements.js'

const ADVANCE_EVERY_MS = 5_000
const MOST_STEPS = 100

export function createPurge(desk: Desk): (limit: number, auditMs: number) => Promise<Purged> {
  let advancedMs = Number.NEGATIVE_INFINITY

  /** Not more often than it has something to do, and not at all while others are at it. */
  async function advance(): Promise<void> {
    const nowMs = performance.now()
    if (nowMs - advancedMs < ADVANCE_EVERY_MS) return
    advancedMs = nowMs
    for (let step = 0; step < MOST_STEPS; step++) {
      const [quiet] = await send(desk.driver, desk.sql.quiet, [])
      if (typeof quiet?.[0] !== 'number') return
      const [row] = await send(desk.driver, desk.sql.advance, [quiet[0]])
      if (Number(row?.[0]) < ADVANCE_BY) return
    }
  }

  return async (limit, auditMs) => {
    await advance().catch((error: unknown) => {
      // A row that it would mark is in use: it is marked the next time.
      if (!wasLocked(error)) throw error
    })
    const [receipts] = await send(desk.driver, desk.sql.purge(limit), [])
    const [events] = await send(desk.driver, desk.sql.purgeAudit, [limit, auditMs])
    return { receipts: Number(receipts?.[0]), events: Number(events?.[0]) }
  }
}
