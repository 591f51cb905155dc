/**
 * scan: pages in the order of the ids, which no receipt ever changes. A page is read in slices of bounded length, so
 * that a search through millions of rows lets claims pass. What is pending or unknown is found by index.
 */
import type { ScanQuery } from '../../store.js'
import { STATE } from './codes.js'
import type { Connection } from './connection.js'
import { findReceipt } from './get.js'
import { asRow, type Row, row, rows, type Value } from './open.js'
import { RECEIPT_COLUMNS } from './statements.js'

const SLICE_ROWS = 5_000

export interface ScanSlice {
  readonly now: number
  readonly rows: readonly Row[]
  /** The id after which to go on; null: that was all. */
  readonly after: number | null
}

export function scanSlice(connection: Connection, query: ScanQuery, after: number, now: number): ScanSlice {
  const { tenant, scope, key } = query
  if (tenant !== undefined && scope !== undefined && key !== undefined) {
    const found = findReceipt(connection, { tenant, scope, key })
    const fits = found && (found[0] as number) > after && isWanted(found, query, now)
    return { now, rows: fits ? [found] : [], after: null }
  }
  return isRare(query) ? byIndex(connection, query, after, now) : byId(connection, query, after, now)
}

function isWanted(found: Row, { states, ended }: ScanQuery, now: number): boolean {
  const until = found[16] as number | null
  const inState = states === undefined || states.some((state) => STATE[state] === found[5])
  return inState && (ended !== true || (until !== null && until <= now))
}

/** Nothing stays pending or unknown for long: what is in these states is little, however much there is in all. */
function isRare({ states }: ScanQuery): boolean {
  return states !== undefined && states.every((state) => state === 'pending' || state === 'unknown')
}

function byIndex({ db }: Connection, query: ScanQuery, after: number, now: number): ScanSlice {
  const { where, values } = conditions(query, now)
  const wanted = query.limit + 1
  const found = rows(
    db.prepare(
      `SELECT ${RECEIPT_COLUMNS} FROM ibid_receipt WHERE id IN (SELECT id FROM ibid_receipt INDEXED BY ibid_receipt_ends
        WHERE id > ? ${where} ORDER BY id LIMIT ?) ORDER BY id`,
    ),
  ).all(after, ...values, wanted)
  return pageOf(found, query.limit, now, null)
}

function byId({ db }: Connection, query: ScanQuery, after: number, now: number): ScanSlice {
  const length = Math.max(SLICE_ROWS, query.limit + 1)
  const slice = 'SELECT max(id), count(*) FROM (SELECT id FROM ibid_receipt WHERE id > ? ORDER BY id LIMIT ?)'
  const [end, count] = row(rows(db.prepare(slice)), after, length) as readonly [number | null, number]
  const { where, values } = conditions(query, now)
  const found = rows(
    db.prepare(
      `SELECT ${RECEIPT_COLUMNS} FROM ibid_receipt WHERE id > ? AND id <= ? ${where} ORDER BY id LIMIT ?`,
    ),
  ).all(after, end, ...values, query.limit + 1)
  return pageOf(found, query.limit, now, count < length ? null : end)
}

/** One row more than the page was asked for: it says that there is another page. */
function pageOf(found: readonly unknown[], limit: number, now: number, end: number | null): ScanSlice {
  const page = found.slice(0, limit).map((got) => asRow(got) as Row)
  return { now, rows: page, after: found.length > limit ? (page.at(-1)?.[0] as number) : end }
}

function conditions(query: ScanQuery, now: number): { readonly where: string; readonly values: Value[] } {
  const parts: string[] = []
  const values: Value[] = []
  for (const name of ['tenant', 'scope', 'key'] as const) {
    const wanted = query[name]
    if (wanted === undefined) continue
    parts.push(`AND ${name} = ?`)
    values.push(wanted)
  }
  if (query.states !== undefined) {
    parts.push(`AND state IN (${query.states.map((state) => STATE[state]).join(', ')})`)
  }
  if (query.ended === true) {
    parts.push('AND until <= ?')
    values.push(now)
  }
  return { where: parts.join(' '), values }
}
