/**
 * audit: the log by id, which is the order of the commits. An event of a receipt is completed from the receipt, or
 * from what is kept of one that is gone. Read in slices, like a scan.
 */
import type { AuditQuery } from '../../store.js'
import type { Connection } from './connection.js'
import { findIdsEver } from './get.js'
import { asRow, type Database, type Row, row, rows, type Value } from './open.js'

const SLICE_ROWS = 5_000

const EVENTS = `SELECT a.id, a.at, a.event, a.state, a.epoch, a.attempt, a.count, a.by, a.why,
    coalesce(a.fingerprint, r.fingerprint, p.fingerprint), coalesce(a.tenant, r.tenant, p.tenant),
    coalesce(a.scope, r.scope, p.scope), coalesce(a.key, r.key, p.key)
  FROM ibid_audit a LEFT JOIN ibid_receipt r ON r.id = a.receipt LEFT JOIN ibid_past p ON p.id = a.receipt
  WHERE a.event IS NOT NULL`

export interface AuditSlice {
  readonly rows: readonly Row[]
  /** The id after which to go on. */
  readonly after: number
  readonly more: boolean
}

export function auditSlice(connection: Connection, query: AuditQuery, after: number): AuditSlice {
  const { tenant, scope, key, limit } = query
  if (tenant !== undefined && scope !== undefined && key !== undefined) {
    const ids = findIdsEver(connection, { tenant, scope, key })
    const found = [
      ...ids.flatMap((id) => read(connection.db, 'AND a.receipt = ?', [id], after, limit)),
      ...read(
        connection.db,
        'AND a.receipt IS NULL AND a.tenant = ? AND a.scope = ? AND a.key = ?',
        [tenant, scope, key],
        after,
        limit,
      ),
    ].toSorted((a, b) => idOf(a) - idOf(b))
    const page = found.slice(0, limit)
    return { rows: page, after: page.length > 0 ? idOf(page.at(-1) as Row) : after, more: false }
  }
  return byId(connection.db, query, after)
}

function byId(db: Database, query: AuditQuery, after: number): AuditSlice {
  const length = Math.max(SLICE_ROWS, query.limit)
  const slice = 'SELECT max(id), count(*) FROM (SELECT id FROM ibid_audit WHERE id > ? ORDER BY id LIMIT ?)'
  const [end, count] = row(rows(db.prepare(slice)), after, length) as readonly [number | null, number]
  if (end === null) return { rows: [], after, more: false }
  const parts = ['AND a.id <= ?']
  const values: Value[] = [end]
  for (const name of ['tenant', 'scope', 'key'] as const) {
    const wanted = query[name]
    if (wanted === undefined) continue
    parts.push(`AND coalesce(a.${name}, r.${name}, p.${name}) = ?`)
    values.push(wanted)
  }
  const page = read(db, parts.join(' '), values, after, query.limit)
  const full = page.length === query.limit
  return { rows: page, after: full ? idOf(page.at(-1) as Row) : end, more: !full && count === length }
}

function read(db: Database, where: string, values: readonly Value[], after: number, limit: number): Row[] {
  const statement = rows(db.prepare(`${EVENTS} ${where} AND a.id > ? ORDER BY a.id LIMIT ?`))
  return statement.all(...values, after, limit).map((got) => asRow(got) as Row)
}

function idOf(event: Row): number {
  return event[0] as number
}
