/** Reading receipts: by address, and in pages. Never from a replica. */
import type { Address, Receipt } from '../../core/receipt.js'
import type { Looked, ScanPage, ScanQuery } from '../../store.js'
import { noCursor } from '../../core/cursor.js'
import { type Desk, send } from './desk.js'
import { digestOf, digestsOf, mustBe } from './digest.js'
import { replica } from './errors.js'
import { ArrayParam } from './arrays.js'
import { receiptOf, type Row } from './rows.js'
import { quoteName } from './schema.js'
import { receiptColumns } from './sent.js'

export async function get(desk: Desk, addresses: readonly Address[]): Promise<Looked> {
  const rows = await send(desk.driver, desk.sql.get, [new ArrayParam('uuid', addresses.map(digestOf))])
  const [head] = rows as [Row]
  if (head[1] !== false) throw replica()
  const receipts: (Receipt | undefined)[] = addresses.map(() => undefined)
  for (const row of rows) {
    if (row[2] === null) continue
    const at = Number(row[2]) - 1
    const receipt = receiptOf(row, 3)
    mustBe(receipt, addresses[at] as Address)
    receipts[at] = receipt
  }
  return { now: Number(head[0]), receipts }
}

/** In the order of the primary key, which no change of a receipt changes. */
export async function scan(desk: Desk, query: ScanQuery): Promise<ScanPage> {
  if (isUnsettled(query)) await desk.frontier.advance()
  const { text, params } = scanStatement(desk.terms.schema, query)
  const rows = await send(desk.driver, { name: '', text }, params)
  const [head] = rows as [Row]
  if (head[1] !== false) throw replica()
  const found = rows.filter((row) => row[2] !== null)
  const page = found.slice(0, query.limit)
  const last = page.at(-1)
  const cursor = found.length > page.length && last ? (last[2] as string) : undefined
  return { now: Number(head[0]), receipts: page.map((row) => receiptOf(row, 3)), cursor }
}

/**
 * A scan for states that need attention looks only at the marked rows and behind the frontier (see `advance` in
 * statements.ts); any other walks the primary key.
 */
function scanStatement(
  schema: string,
  query: ScanQuery,
): { readonly text: string; readonly params: unknown[] } {
  const s = quoteName(schema)
  const params: unknown[] = []
  const param = (value: unknown): string => `$${params.push(value)}`
  const where: string[] = []
  const { tenant, scope, key, states } = query
  if (tenant !== undefined) {
    const [first, last] = digestsOf(tenant)
    where.push(
      `r.digest between ${param(first)}::uuid and ${param(last)}::uuid and r.tenant = ${param(tenant)}::text`,
    )
  }
  if (scope !== undefined) where.push(`r.scope = ${param(scope)}::text`)
  if (key !== undefined) where.push(`r.key = ${param(key)}::text`)
  if (tenant !== undefined && scope !== undefined && key !== undefined) {
    where.push(`r.digest = ${param(digestOf({ tenant, scope, key }))}::uuid`)
  }
  if (states) where.push(`r.state = any(${param(new ArrayParam('text', states))}::text[])`)
  if (query.ended === true) where.push('r.until <= (select now from clock)')
  if (query.cursor !== undefined) {
    where.push(`r.digest > ${param(placeOf(query.cursor))}::uuid`)
  }
  const limit = param(query.limit + 1)
  const all = where.length > 0 ? where.join(' and ') : 'true'
  const unsettled =
    states !== undefined && states.every((state) => state === 'pending' || state === 'unknown')
  const rows = unsettled
    ? `select * from ${s}.receipts r where r.attention and ${all}
      union all select * from ${s}.receipts r
      where not r.attention and r.epoch > (select frontier from ${s}.meta) and ${all}`
    : `select * from ${s}.receipts r where ${all} order by r.digest limit ${limit}`
  const text = `with clock as materialized (select floor(extract(epoch from clock_timestamp()) * 1000)::bigint as now),
found as materialized (${rows})
select c.now::float8, pg_is_in_recovery(), r.digest::text, ${receiptColumns('r')}
from clock c left join (select * from found order by digest limit ${limit}) r on true
order by r.digest`
  return { text, params }
}

const DIGEST = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/

/** Behind which receipt a page ended. What this store cannot have given is refused, and not sent to the server. */
function placeOf(cursor: string): string {
  if (!DIGEST.test(cursor)) throw noCursor()
  return cursor
}

function isUnsettled({ states }: ScanQuery): boolean {
  return states !== undefined && states.every((state) => state === 'pending' || state === 'unknown')
}
