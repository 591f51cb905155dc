/**
 * The audit log. Ids are given out before their transactions commit, so a reader who follows the log must not pass
 * an id that may still turn up. It reads up to the last id that can be seen, and only once everybody who was writing
 * then has finished; should one of them hang, it goes as far as the ids have no gap.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { AuditEvent } from '../../core/audit.js'
import type { AuditPage, AuditQuery } from '../../store.js'
import { type Desk, send } from './desk.js'
import { digestOf } from './digest.js'
import { replica } from './errors.js'
import { eventColumns } from './columns.js'
import { eventOf, type Row } from './rows.js'

const LONGEST_WAIT_MS = 1_000
const MOST_LOOKED_AT = 100_000

export async function record(desk: Desk, events: readonly AuditEvent[]): Promise<void> {
  if (events.length === 0) return
  const placed = events.map((value) => ({ value, digest: digestOf(value) }))
  await send(desk.driver, desk.sql.record, eventColumns(placed))
}

export async function audit(desk: Desk, query: AuditQuery): Promise<AuditPage> {
  const { tenant, scope, key, limit } = query
  const after = Number(query.cursor ?? 0)
  const end = await endOf(desk, after)
  const filter = [after, end, tenant ?? null, scope ?? null, key ?? null, limit]
  const rows =
    tenant !== undefined && scope !== undefined && key !== undefined
      ? await send(desk.driver, desk.sql.auditOf, [...filter, digestOf({ tenant, scope, key })])
      : await send(desk.driver, desk.sql.audit, filter)
  const last = rows.at(-1)
  return { events: rows.map(eventOf), cursor: last ? String(Number(last[0])) : query.cursor }
}

/** The highest id below which nothing new can turn up. */
async function endOf(desk: Desk, after: number): Promise<number> {
  const [head] = (await send(desk.driver, desk.sql.auditEnd, [])) as [Row]
  if (head[1] !== false) throw replica()
  const end = Number(head[0])
  if (end <= after) return end
  let writers = await writersNow(desk)
  const stopMs = performance.now() + LONGEST_WAIT_MS
  for (let pauseMs = 1; writers.size > 0; pauseMs = Math.min(pauseMs * 2, 50)) {
    if (performance.now() > stopMs) return await upToGap(desk, after, end)
    await sleep(pauseMs)
    const now = await writersNow(desk)
    writers = new Set([...writers].filter((writer) => now.has(writer)))
  }
  return end
}

async function writersNow(desk: Desk): Promise<ReadonlySet<unknown>> {
  const rows = await send(desk.driver, desk.sql.auditWriters, [])
  return new Set(rows.map(([writer]) => writer))
}

async function upToGap(desk: Desk, after: number, end: number): Promise<number> {
  const [row] = await send(desk.driver, desk.sql.auditGap, [after, end, MOST_LOOKED_AT])
  const [gap, looked] = row as Row
  return gap === null ? Math.min(end, after + Number(looked)) : Number(gap) - 1
}
