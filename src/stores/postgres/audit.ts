/**
 * The audit log. Ids are given out before their transactions commit, so a reader who follows the log must not pass
 * an id that may still turn up. It reads up to the last id that can be seen, and only once everybody who was writing
 * then has finished; should one of them hang, it goes as far as the ids have no gap.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { AuditEvent } from '../../core/audit.js'
import { readNumber } from '../../core/cursor.js'
import type { AuditPage, AuditQuery } from '../../store.js'
import { apart, type Desk, send } from './desk.js'
import { digestOf, markOf } from './digest.js'
import { replica } from './errors.js'
import { eventColumns } from './columns.js'
import { eventOf, type Row } from './rows.js'

const LONGEST_WAIT_MS = 1_000
const MOST_LOOKED_AT = 100_000
/** The log has no index by time: its order is that of time, but for a clock that was set back by less than this. */
const SET_BACK_MS = 3_600_000

export async function record(desk: Desk, events: readonly AuditEvent[]): Promise<void> {
  if (events.length === 0) return
  const placed = events.map((event) => ({ event, digest: digestOf(event) }))
  await apart(placed, async (part) => {
    const { params, shape } = eventColumns(part)
    await send(desk.driver, desk.sql.record(shape), params)
  })
}

export async function audit(desk: Desk, query: AuditQuery): Promise<AuditPage> {
  return query.newestFirst ? await lookBack(desk, query) : await goOn(desk, query)
}

async function goOn(desk: Desk, query: AuditQuery): Promise<AuditPage> {
  const cursor = readNumber(query.cursor ?? '0')
  const end = await endOf(desk, cursor)
  const after = Math.max(cursor, await lastBefore(desk, query, end))
  const rows = await read(desk, query, after, end)
  const last = rows.at(-1)
  return { events: rows.map(eventOf), cursor: last ? String(Number(last[0])) : query.cursor }
}

/** What is not committed yet is not waited for: whoever looks back does not follow. */
async function lookBack(desk: Desk, query: AuditQuery): Promise<AuditPage> {
  const end = query.cursor === undefined ? (await headOf(desk)).end : readNumber(query.cursor) - 1
  const rows = await read(desk, query, await lastBefore(desk, query, end), end)
  const last = rows.at(-1)
  const isAll = rows.length < query.limit || last === undefined
  return { events: rows.map(eventOf), cursor: isAll ? undefined : String(Number(last[0])) }
}

/** Events with ids after the one and up to the other. */
async function read(desk: Desk, query: AuditQuery, after: number, end: number): Promise<readonly Row[]> {
  const { tenant, scope, key, since, limit, newestFirst } = query
  const filter = [after, end, tenant ?? null, scope ?? null, key ?? null, limit, since ?? null]
  const { audit, auditBack, auditOf, auditOfBack } = desk.sql
  if (tenant === undefined || scope === undefined || key === undefined)
    return await send(desk.driver, newestFirst ? auditBack : audit, filter)
  const digest = digestOf({ tenant, scope, key })
  return await send(desk.driver, newestFirst ? auditOfBack : auditOf, [...filter, digest, markOf(digest)])
}

/** The last event before `since`: what stands before it need not be read. */
async function lastBefore(desk: Desk, { since }: AuditQuery, end: number): Promise<number> {
  if (since === undefined) return 0
  const [row] = await send(desk.driver, desk.sql.auditSince, [end, since - SET_BACK_MS])
  return Number(row?.[0] ?? 0)
}

async function headOf(desk: Desk): Promise<{ readonly end: number }> {
  const [head] = (await send(desk.driver, desk.sql.auditEnd, [])) as [Row]
  if (head[1] !== false) throw replica()
  return { end: Number(head[0]) }
}

/** The highest id below which nothing new can turn up. */
async function endOf(desk: Desk, after: number): Promise<number> {
  const { end } = await headOf(desk)
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
  return Math.min(end, Number((row as Row)[0]))
}
