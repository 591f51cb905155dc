/**
 * audit: the log by id, which is the order of the commits, forwards or backwards. An event of a receipt is completed
 * from the receipt, or from what is kept of one that is gone. Read in slices, like a scan.
 */
import type { AuditQuery } from '../../store.js'
import type { Connection } from './connection.js'
import { findIdsEver } from './get.js'
import { asRow, type Database, type Row, row, rows, type Value } from './open.js'

const SLICE_ROWS = 5_000
/** The log has no index by time: its order is that of time, but for a clock that was set back by less than this. */
const SET_BACK_MS = 3_600_000

const EVENTS = `SELECT a.id, a.at, a.event, a.state, a.epoch, a.attempt, a.count, a.by, a.why,
    coalesce(a.fingerprint, r.fingerprint, p.fingerprint), coalesce(a.tenant, r.tenant, p.tenant),
    coalesce(a.scope, r.scope, p.scope), coalesce(a.key, r.key, p.key)
  FROM ibid_audit a LEFT JOIN ibid_receipt r ON r.id = a.receipt LEFT JOIN ibid_past p ON p.id = a.receipt
  WHERE a.event IS NOT NULL`

export interface AuditSlice {
  readonly rows: readonly Row[]
  /** The id to go on from. */
  readonly from: number
  readonly more: boolean
}

/** Ids that are asked for, neither end included, and in which order. */
interface Stretch {
  readonly after: number
  readonly before: number
  readonly order: 'ASC' | 'DESC'
}

/** `from`: the id to go on from; undefined: at the beginning, which may be the end of the log. */
export function auditSlice(connection: Connection, query: AuditQuery, from: number | undefined): AuditSlice {
  const { tenant, scope, key } = query
  const stretch = stretchOf(connection.db, query, from)
  if (tenant === undefined || scope === undefined || key === undefined)
    return byId(connection.db, query, stretch)
  return ofAddress(connection, query, stretch, findIdsEver(connection, { tenant, scope, key }))
}

function stretchOf(db: Database, { since, newestFirst }: AuditQuery, from: number | undefined): Stretch {
  const first = since === undefined ? 0 : lastBefore(db, since - SET_BACK_MS)
  return newestFirst
    ? { after: first, before: from ?? Number.MAX_SAFE_INTEGER, order: 'DESC' }
    : { after: Math.max(first, from ?? 0), before: Number.MAX_SAFE_INTEGER, order: 'ASC' }
}

/** The id of the last event before that time, by halving; 0: there is none. */
function lastBefore(db: Database, time: number): number {
  const next = rows(db.prepare('SELECT id, at FROM ibid_audit WHERE id > ? ORDER BY id LIMIT 1'))
  let low = 0
  let high = Number(row(rows(db.prepare('SELECT max(id) FROM ibid_audit')))?.[0] ?? 0)
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const found = row(next, middle) as readonly [number, number] | undefined
    if (found && found[1] < time) low = found[0]
    else high = middle
  }
  return low
}

function ofAddress(
  { db }: Connection,
  query: AuditQuery,
  stretch: Stretch,
  ids: readonly number[],
): AuditSlice {
  const { tenant, scope, key, limit } = query as Required<AuditQuery>
  const found = [
    ...ids.flatMap((id) => read(db, 'AND a.receipt = ?', [id], query, stretch)),
    ...read(
      db,
      'AND a.receipt IS NULL AND a.tenant = ? AND a.scope = ? AND a.key = ?',
      [tenant, scope, key],
      query,
      stretch,
    ),
  ].toSorted((a, b) => (stretch.order === 'ASC' ? idOf(a) - idOf(b) : idOf(b) - idOf(a)))
  const page = found.slice(0, limit)
  return { rows: page, from: page.length > 0 ? idOf(page.at(-1) as Row) : startOf(stretch), more: false }
}

function byId(db: Database, query: AuditQuery, stretch: Stretch): AuditSlice {
  const { after, before, order } = stretch
  const length = Math.max(SLICE_ROWS, query.limit)
  const slice = `SELECT min(id), max(id), count(*) FROM
    (SELECT id FROM ibid_audit WHERE id > ? AND id < ? ORDER BY id ${order} LIMIT ?)`
  const [low, high, count] = row(rows(db.prepare(slice)), after, before, length) as [number, number, number]
  if (count === 0) return { rows: [], from: startOf(stretch), more: false }
  const parts: string[] = []
  const values: Value[] = []
  for (const name of ['tenant', 'scope', 'key'] as const) {
    const wanted = query[name]
    if (wanted === undefined) continue
    parts.push(`AND coalesce(a.${name}, r.${name}, p.${name}) = ?`)
    values.push(wanted)
  }
  const page = read(db, parts.join(' '), values, query, { after: low - 1, before: high + 1, order })
  const full = page.length === query.limit
  const end = order === 'ASC' ? high : low
  return { rows: page, from: full ? idOf(page.at(-1) as Row) : end, more: !full && count === length }
}

function read(
  db: Database,
  where: string,
  values: readonly Value[],
  { since, limit }: AuditQuery,
  { after, before, order }: Stretch,
): Row[] {
  const timely = since === undefined ? '' : 'AND a.at >= ?'
  const statement = rows(
    db.prepare(`${EVENTS} ${where} ${timely} AND a.id > ? AND a.id < ? ORDER BY a.id ${order} LIMIT ?`),
  )
  const times = since === undefined ? [] : [since]
  return statement.all(...values, ...times, after, before, limit).map((got) => asRow(got) as Row)
}

function startOf({ after, before, order }: Stretch): number {
  return order === 'ASC' ? after : before
}

function idOf(event: Row): number {
  return event[0] as number
}
