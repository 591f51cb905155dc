/** get: consistent reads, a hundred receipts a request. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Address, Receipt } from '../../core/receipt.js'
import type { Looked } from '../../store.js'
import { leaseMarginMs } from './clock.js'
import type { Connection } from './connection.js'
import { type Item, tooLate } from './errors.js'
import { homeOf, receiptKey, text, toReceipt } from './receipt.js'

const MOST_KEYS = 100
const PAUSE_MS = 20

export async function get(connection: Connection, addresses: readonly Address[]): Promise<Looked> {
  const places = addresses.map((address) => homeOf(address).pk)
  const items = await getItems(connection, places)
  const receipts = places.map((pk) => receiptAt(items, pk))
  const now = connection.now()
  // One time for all of them: where a lease is among them, the one that leases are judged by.
  const leased = receipts.some((receipt) => receipt?.state === 'pending')
  return { now: leased ? now - leaseMarginMs(connection.maxSkewMs) : now, receipts }
}

export function receiptAt(items: ReadonlyMap<string, Item>, pk: string): Receipt | undefined {
  const item = items.get(pk)
  return item && toReceipt(item)
}

/** The items of receipts, by partition key. */
export async function getItems(
  connection: Connection,
  places: readonly string[],
): Promise<ReadonlyMap<string, Item>> {
  const found = new Map<string, Item>()
  let waiting: readonly string[] = [...new Set(places)]
  const stopMs = performance.now() + connection.timeoutMs
  while (waiting.length > 0) {
    const asked = waiting.slice(0, MOST_KEYS)
    const { items, left } = await getSome(connection, asked)
    for (const item of items) found.set(text(item, 'pk'), item)
    if (left.length > 0 && performance.now() > stopMs) throw tooLate(connection.timeoutMs, undefined)
    if (left.length === asked.length) await sleep(PAUSE_MS)
    waiting = [...left, ...waiting.slice(MOST_KEYS)]
  }
  return found
}

async function getSome(
  { call, table }: Connection,
  places: readonly string[],
): Promise<{ readonly items: readonly Item[]; readonly left: readonly string[] }> {
  const Keys = places.map((pk) => receiptKey(pk))
  const RequestItems = { [table]: { Keys, ConsistentRead: true } }
  const { Responses, UnprocessedKeys } = await call(({ sdk, client, options }) =>
    client.send(new sdk.BatchGetItemCommand({ RequestItems }), options),
  )
  const left = Object.values(UnprocessedKeys ?? {}).flatMap(({ Keys }) => Keys ?? [])
  return { items: Object.values(Responses ?? {}).flat(), left: left.map((key) => text(key, 'pk')) }
}
