/**
 * claim: one PutItem that demands that nothing is there. One that is refused is told in the same operation what is.
 */
import { type Draft, stamp } from '../../core/receipt.js'
import type { Claimed } from '../../store.js'
import { judgedAt } from './clock.js'
import type { Connection } from './connection.js'
import { refusalOf } from './errors.js'
import { eventOf, logged } from './event.js'
import { getItems } from './get.js'
import { attributesOf, homeOf, receiptKey, toReceipt } from './receipt.js'

export async function claim(connection: Connection, draft: Draft): Promise<Claimed> {
  const { table, maxSkewMs } = connection
  const { pk, shard } = homeOf(draft)
  for (;;) {
    const now = connection.now()
    const receipt = stamp(draft, now, 0)
    const Item = {
      ...receiptKey(pk),
      ...attributesOf(receipt, shard).present,
      ...logged(eventOf(receipt, draft.audit), shard),
    }
    try {
      await connection.call(({ sdk, client, options }) =>
        client.send(
          new sdk.PutItemCommand({
            TableName: table,
            Item,
            ConditionExpression: 'attribute_not_exists(pk)',
            ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          }),
          options,
        ),
      )
      return { won: true, now, epoch: receipt.epoch }
    } catch (error) {
      const refused = refusalOf(error)
      if (!refused) throw error
      // An older SDK does not ask for the item. One that is gone by now leaves the address free.
      const item = refused.found ?? (await getItems(connection, [pk])).get(pk)
      if (!item) continue
      const found = toReceipt(item)
      return { won: false, now: judgedAt(found, connection.now(), maxSkewMs), found }
    }
  }
}
