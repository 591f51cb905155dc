/**
 * scan, by the cheapest way that answers: one address is read, open receipts come from the state index, and only
 * what is left reads the whole table. The index names candidates and may be a moment behind; each is read
 * consistently and judged anew before it is listed.
 */
import type { Receipt, State } from '../../core/receipt.js'
import type { ScanPage, ScanQuery } from '../../store.js'
import { judgedAt } from './clock.js'
import type { Connection } from './connection.js'
import { readCursor, writeCursor } from './cursor.js'
import type { Item } from './errors.js'
import { get, getItems, receiptAt } from './get.js'
import { type Family, RECEIPT, receiptKey, stateKey, text, toReceipt } from './receipt.js'
import { BY_STATE, SHARDS } from './schema.js'

/** A page ends after this many requests, full or not: a rare receipt in a large table must not hang the caller. */
const MOST_REQUESTS = 64
const LEAST_READ = 100

export async function scan(connection: Connection, query: ScanQuery): Promise<ScanPage> {
  const { tenant, scope, key, states } = query
  if (tenant !== undefined && scope !== undefined && key !== undefined) {
    const { receipts } = await get(connection, [{ tenant, scope, key }])
    const now = connection.now()
    const listed = receipts.filter((receipt) => receipt !== undefined)
    return {
      now,
      receipts: listed.filter((receipt) => isWanted(receipt, query, connection)),
      cursor: undefined,
    }
  }
  const open = states?.every((state) => state === 'pending' || state === 'unknown')
  return open ? await scanOpen(connection, query, states) : await scanTable(connection, query)
}

interface OpenPosition {
  /** Which of the index keys, and where in it. */
  readonly part: number
  readonly from?: Item
}

async function scanOpen(
  connection: Connection,
  query: ScanQuery,
  states: readonly Family[],
): Promise<ScanPage> {
  const parts = [...new Set(states)].flatMap((family) =>
    Array.from({ length: SHARDS }, (_, shard) => stateKey(family, shard)),
  )
  const receipts: Receipt[] = []
  let position = readCursor<OpenPosition>(query.cursor, ({ part }) => typeof part === 'number', { part: 0 })
  for (let asked = 0; position.part < parts.length; asked++) {
    if (receipts.length >= query.limit || asked >= MOST_REQUESTS) {
      return { now: connection.now(), receipts, cursor: writeCursor(position) }
    }
    const { part, from } = position
    const page = await pageOfState(connection, parts[part] as string, query.limit - receipts.length, { from })
    const items = await getItems(connection, page.places)
    for (const pk of page.places) {
      const receipt = receiptAt(items, pk)
      if (receipt && isWanted(receipt, query, connection)) receipts.push(receipt)
    }
    position = page.from ? { part, from: page.from } : { part: part + 1 }
  }
  return { now: connection.now(), receipts, cursor: undefined }
}

/** Candidates of one key of the state index, in its order; `upToMs` ends it. */
export async function pageOfState(
  { call, table }: Connection,
  byState: string,
  limit: number,
  { from, upToMs }: { readonly from?: Item | undefined; readonly upToMs?: number },
): Promise<{ readonly places: readonly string[]; readonly from: Item | undefined }> {
  const { Items, LastEvaluatedKey } = await call(({ sdk, client, options }) =>
    client.send(
      new sdk.QueryCommand({
        TableName: table,
        IndexName: BY_STATE,
        KeyConditionExpression:
          upToMs === undefined ? 'byState = :part' : 'byState = :part AND since <= :upTo',
        ExpressionAttributeValues: {
          ':part': { S: byState },
          ...(upToMs !== undefined && { ':upTo': { N: String(upToMs) } }),
        },
        ExclusiveStartKey: from,
        Limit: limit,
      }),
      options,
    ),
  )
  return { places: (Items ?? []).map((item) => text(item, 'pk')), from: LastEvaluatedKey }
}

interface TablePosition {
  readonly from?: Item | undefined
}

async function scanTable(connection: Connection, query: ScanQuery): Promise<ScanPage> {
  const { call, table } = connection
  const filter = filterOf(query)
  const receipts: Receipt[] = []
  let { from } = readCursor<TablePosition>(query.cursor, ({ from }) => typeof from === 'object', {})
  for (let asked = 0; asked < MOST_REQUESTS; asked++) {
    const { Items, LastEvaluatedKey } = await call(({ sdk, client, options }) =>
      client.send(
        new sdk.ScanCommand({
          TableName: table,
          ConsistentRead: true,
          ...filter,
          ExclusiveStartKey: from,
          Limit: Math.max(query.limit, LEAST_READ),
        }),
        options,
      ),
    )
    for (const item of Items ?? []) {
      const receipt = toReceipt(item)
      if (!isWanted(receipt, query, connection)) continue
      receipts.push(receipt)
      if (receipts.length < query.limit) continue
      return { now: connection.now(), receipts, cursor: writeCursor({ from: receiptKey(text(item, 'pk')) }) }
    }
    from = LastEvaluatedKey
    if (!from) return { now: connection.now(), receipts, cursor: undefined }
  }
  return { now: connection.now(), receipts, cursor: writeCursor({ from }) }
}

/** What the server can leave out by itself, before it sends anything. */
function filterOf({ tenant, scope, key, states }: ScanQuery): {
  readonly FilterExpression: string
  readonly ExpressionAttributeNames: Record<string, string>
  readonly ExpressionAttributeValues: Item
} {
  const equal = { sk: RECEIPT, tenant, scope, key }
  const asked = Object.entries(equal).flatMap(([name, value]) =>
    value === undefined ? [] : [{ name, value }],
  )
  const terms = asked.map(({ name }) => `#${name} = :${name}`)
  const names = asked.map(({ name }) => [`#${name}`, name] as const)
  const values = asked.map(({ name, value }) => [`:${name}`, { S: value }] as const)
  const wanted = states?.map((state, i) => [`:state${i}`, { S: state }] as const) ?? []
  if (states) terms.push(`#state IN (${wanted.map(([name]) => name).join(', ')})`)
  return {
    FilterExpression: terms.join(' AND '),
    ExpressionAttributeNames: Object.fromEntries(states ? [...names, ['#state', 'state']] : names),
    ExpressionAttributeValues: Object.fromEntries([...values, ...wanted]),
  }
}

function isWanted(receipt: Receipt, query: ScanQuery, connection: Connection): boolean {
  const { tenant, scope, key, states, ended } = query
  return (
    (tenant === undefined || receipt.tenant === tenant) &&
    (scope === undefined || receipt.scope === scope) &&
    (key === undefined || receipt.key === key) &&
    (states === undefined || states.includes(receipt.state satisfies State)) &&
    (ended !== true || hasEnded(receipt, connection))
  )
}

function hasEnded(receipt: Receipt, { now, maxSkewMs }: Connection): boolean {
  return receipt.until !== null && receipt.until <= judgedAt(receipt, now(), maxSkewMs)
}
