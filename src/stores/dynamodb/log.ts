/**
 * Reading the log: the parts of the log index merged into one order, or the partition of one address. A part that
 * has more to give bounds what is known to be in order.
 */
import type { QueryCommandInput } from '@aws-sdk/client-dynamodb'
import type { Address } from '../../core/receipt.js'
import type { Connection } from './connection.js'
import type { Item } from './errors.js'
import { eventKey, logKey } from './event.js'
import { homeOf, receiptKey, text } from './receipt.js'
import { BY_LOG, SHARDS } from './schema.js'

/** Items in the order of the log. `more`: there may be others behind them. */
export interface Stretch {
  readonly items: readonly Item[]
  readonly more: boolean
}

/** Places, neither of them included: what comes after the one, or before the other. `back`: newest first. */
export interface Bounds {
  readonly after?: string
  readonly before?: string
  readonly back?: boolean
}

export async function stretchOfAll(connection: Connection, bounds: Bounds, wanted: number): Promise<Stretch> {
  const each = Math.ceil(wanted / SHARDS) + 4
  const parts = await Promise.all(
    Array.from({ length: SHARDS }, (_, shard) => stretchOfPart(connection, logKey(shard), each, bounds)),
  )
  return merge(parts, bounds.back)
}

export async function stretchOfPart(
  connection: Connection,
  log: string,
  limit: number,
  { after, before, back = false }: Bounds,
): Promise<Stretch> {
  const bound = before === undefined ? 'place > :bound' : 'place < :bound'
  return await query(connection, {
    TableName: connection.table,
    IndexName: BY_LOG,
    KeyConditionExpression: `#log = :log AND ${bound}`,
    ExpressionAttributeNames: { '#log': 'log' },
    // A key cannot be empty: before the first place there is the digit that places start with.
    ExpressionAttributeValues: { ':log': { S: log }, ':bound': { S: before ?? (after || '0') } },
    ScanIndexForward: !back,
    Limit: limit,
  })
}

/** The receipt before its events: what a purge moves from one to the other in between is seen twice, not never. */
export async function stretchOfAddress(
  connection: Connection,
  address: Address,
  { after = '', before = '~', back = false }: Bounds,
  limit: number,
): Promise<Stretch> {
  const { table, call } = connection
  const { pk } = homeOf(address)
  const { Item } = await call(({ sdk, client, options }) =>
    client.send(
      new sdk.GetItemCommand({
        TableName: table,
        Key: receiptKey(pk),
        ConsistentRead: true,
        ProjectionExpression: 'place, event',
      }),
      options,
    ),
  )
  const events = await query(connection, {
    TableName: table,
    ConsistentRead: true,
    KeyConditionExpression: 'pk = :pk AND sk BETWEEN :from AND :to',
    ExpressionAttributeValues: {
      ':pk': { S: pk },
      ':from': { S: `${eventKey(after)}!` },
      ':to': { S: eventKey(before) },
    },
    ScanIndexForward: !back,
    Limit: limit,
  })
  const isBetween = (item: Item): boolean => text(item, 'place') > after && text(item, 'place') < before
  const first = Item && isBetween(Item) ? [Item] : []
  return merge(
    [
      { items: first, more: false },
      { ...events, items: events.items.filter(isBetween) },
    ],
    back,
  )
}

async function query({ call }: Connection, input: QueryCommandInput): Promise<Stretch> {
  const { Items, LastEvaluatedKey } = await call(({ sdk, client, options }) =>
    client.send(new sdk.QueryCommand(input), options),
  )
  return { items: Items ?? [], more: LastEvaluatedKey !== undefined }
}

function merge(parts: readonly Stretch[], back = false): Stretch {
  const ends = parts.filter(({ more }) => more).map(({ items }) => placeOf(items.at(-1)))
  const bound = ends.toSorted().at(back ? -1 : 0)
  const byPlace = new Map<string, Item>()
  for (const item of parts.flatMap(({ items }) => items)) {
    const place = placeOf(item)
    if (bound === undefined || (back ? place >= bound : place <= bound)) byPlace.set(place, item)
  }
  const forwards = [...byPlace].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, item]) => item)
  return { items: back ? forwards.toReversed() : forwards, more: bound !== undefined }
}

function placeOf(item: Item | undefined): string {
  return item ? text(item, 'place') : ''
}
