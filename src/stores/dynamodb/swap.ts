/**
 * swap: one transaction of the conditional update and its event. The SDK gives a transaction a token of its own,
 * so that one that is sent again after a lost answer is answered, not made twice.
 */
import type { AttributeValue, TransactWriteItem, Update } from '@aws-sdk/client-dynamodb'
import { asWritten, type Draft, nextEpoch, type Receipt } from '../../core/receipt.js'
import type { Swap, Swapped } from '../../store.js'
import type { Connection } from './connection.js'
import { type Item, refusalOf } from './errors.js'
import { eventItem, eventOf, logged } from './event.js'
import { attributesOf, homeOf, receiptKey, toReceipt } from './receipt.js'

export async function swap(connection: Connection, { expect, next }: Swap): Promise<Swapped> {
  const home = homeOf(next)
  let lastEpoch = 0
  for (;;) {
    const now = connection.now()
    const receipt = asWritten(next, now, next.epoch ?? nextEpoch(now, lastEpoch))
    const change = update(connection.table, home.pk, expect, next, attributesOf(receipt, home.shard))
    const noted = eventItem(home, logged(eventOf(receipt, next.audit), home.shard))
    const refused = await transact(connection, [
      { Update: change },
      { Put: { TableName: connection.table, Item: noted } },
    ])
    if (!refused) return { done: true, now, epoch: receipt.epoch }
    const found = refused.found && toReceipt(refused.found)
    const isExpected = found !== undefined && isAsExpected(found, expect)
    if (!isExpected) return { done: false, now: connection.now() }
    // Only its epoch was not below the new one: the clock has not moved on since, or stands behind another's.
    lastEpoch = found.epoch
  }
}

/** Undefined: done. */
export async function transact(
  connection: Connection,
  TransactItems: TransactWriteItem[],
): Promise<ReturnType<typeof refusalOf>> {
  try {
    await connection.call(({ sdk, client, options }) =>
      client.send(new sdk.TransactWriteItemsCommand({ TransactItems }), options),
    )
    return undefined
  } catch (error) {
    const refused = refusalOf(error)
    if (!refused) throw error
    return refused
  }
}

function update(
  table: string,
  pk: string,
  expect: Swap['expect'],
  next: Draft,
  { present, absent }: ReturnType<typeof attributesOf>,
): Update {
  const names = Object.keys(present)
  const values: Item = Object.fromEntries(names.map((name) => [`:${name}`, present[name] as AttributeValue]))
  const condition = conditionOf(expect, next)
  return {
    TableName: table,
    Key: receiptKey(pk),
    UpdateExpression: [
      `SET ${names.map((name) => `#${name} = :${name}`).join(', ')}`,
      ...(absent.length > 0 ? [`REMOVE ${absent.map((name) => `#${name}`).join(', ')}`] : []),
    ].join(' '),
    ConditionExpression: condition.text,
    ExpressionAttributeNames: Object.fromEntries(
      [...new Set([...names, ...absent, 'until'])].map((name) => [`#${name}`, name]),
    ),
    ExpressionAttributeValues: { ...values, ...condition.values },
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  }
}

/** Still the expected one. Where a new epoch is made, it has to be above the stored one. */
function conditionOf(expect: Swap['expect'], next: Draft): { readonly text: string; readonly values: Item } {
  const terms = ['#token = :wasToken', '#state = :wasState']
  const values: Item = { ':wasToken': { S: expect.token }, ':wasState': { S: expect.state } }
  if (expect.until === null) terms.push('attribute_not_exists(#until)')
  if (typeof expect.until === 'number') {
    terms.push('#until = :wasUntil')
    values[':wasUntil'] = { N: String(expect.until) }
  }
  if (next.epoch === null) terms.push('#epoch < :epoch')
  return { text: terms.join(' AND '), values }
}

function isAsExpected(receipt: Receipt, expect: Swap['expect']): boolean {
  return (
    receipt.token === expect.token &&
    receipt.state === expect.state &&
    (expect.until === undefined || receipt.until === expect.until)
  )
}
