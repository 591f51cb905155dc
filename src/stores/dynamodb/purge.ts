/**
 * purge: receipts whose window has ended, found in the state index and deleted only if they are still as they were
 * read; events that are too old, found in the log. The claimed event that a receipt carries becomes an item of its
 * own when the receipt goes, and is taken off it when it is too old while the receipt stays.
 */
import type { TransactWriteItem } from '@aws-sdk/client-dynamodb'
import type { Purged, ReceiptClaim } from '../../store.js'
import { purgeMarginMs } from './clock.js'
import type { Connection } from './connection.js'
import { each } from './each.js'
import { type Item, refusalOf } from './errors.js'
import { eventItem, eventOf, logged, logKey, timePlace } from './event.js'
import { getItems } from './get.js'
import { stretchOfPart } from './log.js'
import { homeOf, RECEIPT, receiptKey, stateKey, text, toReceipt } from './receipt.js'
import { pageOfState } from './scan.js'
import { SHARDS } from './schema.js'
import { transact } from './swap.js'

export async function purge(connection: Connection, limit: number, auditMs: number): Promise<Purged> {
  const events = await purgeEvents(connection, limit, auditMs)
  return { receipts: await purgeReceipts(connection, limit), events }
}

async function purgeReceipts(connection: Connection, limit: number): Promise<number> {
  const now = connection.now()
  const upToMs = now - purgeMarginMs(connection.maxSkewMs)
  const ended: string[] = []
  for (let shard = 0; shard < SHARDS && ended.length < limit; shard++) {
    const left = limit - ended.length
    ended.push(...(await pageOfState(connection, stateKey('ended', shard), left, { upToMs })).places)
  }
  const items = [...(await getItems(connection, ended)).values()]
  return await forgetAll(connection, items, upToMs)
}

const idOf = (pk: string, epoch: number): string => `${epoch} ${pk}`

export async function forgetOnly(connection: Connection, claims: readonly ReceiptClaim[]): Promise<number> {
  const upToMs = connection.now() - purgeMarginMs(connection.maxSkewMs)
  const wanted = new Set(claims.map((claim) => idOf(homeOf(claim).pk, claim.epoch)))
  const places = new Set(claims.map((claim) => homeOf(claim).pk))
  const items = [...(await getItems(connection, [...places])).values()]
  const named = items.filter((item) => wanted.has(idOf(text(item, 'pk'), toReceipt(item).epoch)))
  return await forgetAll(connection, named, upToMs)
}

async function forgetAll(connection: Connection, items: readonly Item[], upToMs: number): Promise<number> {
  const gone = await each(
    items,
    (item) => text(item, 'pk'),
    (item) => forget(connection, item, upToMs),
  )
  return gone.filter(Boolean).length
}

/** False: it is no longer what the index said, or not what was read a moment ago. */
async function forget(connection: Connection, item: Item, upToMs: number): Promise<boolean> {
  const { table } = connection
  const receipt = toReceipt(item)
  const isOpen = receipt.state === 'pending' || receipt.state === 'unknown'
  if (isOpen || receipt.until === null || receipt.until > upToMs) return false
  const home = homeOf(receipt)
  const expired = { ...eventOf(receipt, { event: 'expired' }), at: connection.now(), state: null }
  const { log, place, event } = item
  const claimed = log && place && event ? [eventItem(home, { log, place, event })] : []
  const writes: TransactWriteItem[] = [
    {
      Delete: {
        TableName: table,
        Key: receiptKey(home.pk),
        ConditionExpression: '#token = :token AND #state = :state AND #until = :until AND #epoch = :epoch',
        ExpressionAttributeNames: {
          '#token': 'token',
          '#state': 'state',
          '#until': 'until',
          '#epoch': 'epoch',
        },
        ExpressionAttributeValues: {
          ':token': { S: receipt.token },
          ':state': { S: receipt.state },
          ':until': { N: String(receipt.until) },
          ':epoch': { N: String(receipt.epoch) },
        },
      },
    },
    ...[...claimed, eventItem(home, logged(expired, home.shard))].map((Item) => ({
      Put: { TableName: table, Item },
    })),
  ]
  return (await transact(connection, writes)) === undefined
}

async function purgeEvents(connection: Connection, limit: number, auditMs: number): Promise<number> {
  const before = timePlace(connection.now() - auditMs)
  const old: Item[] = []
  for (let shard = 0; shard < SHARDS && old.length < limit; shard++) {
    old.push(...(await stretchOfPart(connection, logKey(shard), limit - old.length, { before })).items)
  }
  const dropped = await each(
    old,
    (item) => text(item, 'place'),
    (item) => drop(connection, item),
  )
  return dropped.filter(Boolean).length
}

async function drop({ call, table }: Connection, { pk, sk, place }: Item): Promise<boolean> {
  const target = {
    TableName: table,
    Key: { pk, sk } as Item,
    ConditionExpression: 'place = :place',
    ExpressionAttributeValues: { ':place': place } as Item,
  }
  try {
    await call(({ sdk, client, options }) =>
      sk?.S === RECEIPT
        ? client.send(
            new sdk.UpdateItemCommand({
              ...target,
              UpdateExpression: 'REMOVE #log, place, event',
              ExpressionAttributeNames: { '#log': 'log' },
            }),
            options,
          )
        : client.send(new sdk.DeleteItemCommand(target), options),
    )
    return true
  } catch (error) {
    if (refusalOf(error)) return false
    throw error
  }
}
