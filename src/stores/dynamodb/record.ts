/** record: events without a change, 25 a request. Sent again after a lost answer, they overwrite themselves. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { WriteRequest } from '@aws-sdk/client-dynamodb'
import type { AuditEvent } from '../../core/audit.js'
import type { Connection } from './connection.js'
import { tooLate } from './errors.js'
import { eventItem, logged } from './event.js'
import { homeOf } from './receipt.js'

const MOST_WRITES = 25
const PAUSE_MS = 20

export async function record(connection: Connection, events: readonly AuditEvent[]): Promise<void> {
  const at = connection.now()
  const items = events.map((event) => {
    const home = homeOf(event)
    return eventItem(home, logged({ ...event, at }, home.shard))
  })
  await writeAll(
    connection,
    items.map((Item) => ({ PutRequest: { Item } })),
  )
}

async function writeAll(connection: Connection, requests: readonly WriteRequest[]): Promise<void> {
  const { table, timeoutMs } = connection
  const stopMs = performance.now() + timeoutMs * Math.ceil(requests.length / MOST_WRITES)
  let waiting = requests
  while (waiting.length > 0) {
    const asked = waiting.slice(0, MOST_WRITES)
    const { UnprocessedItems } = await connection.call(({ sdk, client, options }) =>
      client.send(new sdk.BatchWriteItemCommand({ RequestItems: { [table]: asked } }), options),
    )
    const left = Object.values(UnprocessedItems ?? {}).flat()
    if (left.length > 0 && performance.now() > stopMs) throw tooLate(timeoutMs, undefined)
    if (left.length > 0) await sleep(PAUSE_MS)
    waiting = [...left, ...waiting.slice(MOST_WRITES)]
  }
}
