/**
 * Bad moments that the emulator does not have by itself: throttling, a transaction on the same item, an answer that
 * is lost. They are put between a real client and the emulator, where the SDK lets them in.
 */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startDynamodb } from '../../scripts/servers/dynamodb.mjs'
import { createIbid } from '../../src/index.js'
import { dynamodbStore } from '../../src/stores/dynamodb/index.js'
import { type Emulator, freshTable } from './table.js'

const WRITES = ['PutItemCommand', 'TransactWriteItemsCommand']
const intent = { scope: 's', key: 'k', payload: 1 }

describe('DynamoDB store: bad moments, on an emulator', () => {
  let emulator: Emulator
  beforeAll(async () => {
    emulator = await startDynamodb()
  })
  afterAll(async () => await emulator.stop())

  /** A client whose writes end in `fault`, before or after they are made, as long as `left` says so. */
  function faulty(left: { count: number }, when: 'before' | 'after', fault: () => Error): DynamoDBClient {
    const client = new DynamoDBClient(emulator.config)
    client.middlewareStack.add(
      (next, { commandName }) =>
        async (args) => {
          const struck = WRITES.includes(String(commandName)) && left.count-- > 0
          if (struck && when === 'before') throw fault()
          const result = await next(args)
          if (struck) throw fault()
          return result
        },
      { step: 'deserialize', priority: 'low', name: 'fault' },
    )
    return client
  }

  async function onceWith(client: DynamoDBClient, timeoutMs: number): Promise<number> {
    const options = await freshTable(emulator)
    const ibid = createIbid({ store: dynamodbStore({ ...options, client, timeoutMs }), tenant: 'acme' })
    let effects = 0
    await ibid.once(intent, async () => ++effects)
    await ibid.close()
    const history = dynamodbStore(options)
    const { events } = await history.audit({ tenant: 'acme', scope: 's', key: 'k', limit: 10 })
    await history.close()
    // Whoever finds its own claim there, because the answer was lost, renews it first.
    const changes = events.map(({ event }) => event).filter((event) => event !== 'renewed')
    expect(changes).toEqual(['claimed', 'settled'])
    return effects
  }

  for (const [name, fault] of [
    ['throttling', () => named('ThrottlingException')],
    ['a used-up throughput', () => named('ProvisionedThroughputExceededException')],
    ['a transaction on the same item', () => named('TransactionConflictException')],
    ['a cancelled transaction', () => cancelled('TransactionConflict')],
  ] as const) {
    it(`waits ${name} out`, async () => {
      const client = faulty({ count: 6 }, 'before', fault)
      expect(await onceWith(client, 30_000)).toBe(1)
      client.destroy()
    })
  }

  it('looks for itself when a refusal does not show what is there', async () => {
    const client = faulty({ count: 1 }, 'before', () => named('ConditionalCheckFailedException'))
    expect(await onceWith(client, 30_000)).toBe(1)
    client.destroy()
  })

  it('[R12] gives up in bounded time, and lets no effect run', async () => {
    const client = faulty({ count: Number.POSITIVE_INFINITY }, 'before', () => named('ThrottlingException'))
    const store = dynamodbStore({ ...(await freshTable(emulator)), client, timeoutMs: 500 })
    const ibid = createIbid({ store, tenant: 'acme' })
    let effects = 0
    const call = ibid.once(intent, async () => ++effects)
    await expect(call).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', retriable: true })
    expect(effects).toBe(0)
    await ibid.close()
    client.destroy()
  })

  it('[R61] runs an effect once when the answers to its writes are lost', async () => {
    for (const count of [1, 2, 3]) {
      const client = faulty({ count }, 'after', () =>
        Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' }),
      )
      expect(await onceWith(client, 30_000)).toBe(1)
      client.destroy()
    }
  })
})

function named(name: string): Error {
  return Object.assign(new Error(name), { name })
}

function cancelled(Code: string): Error {
  return Object.assign(named('TransactionCanceledException'), {
    CancellationReasons: [{ Code }, { Code: 'None' }],
  })
}
