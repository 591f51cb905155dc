/** Nothing begins for a message that may be somebody else's by now, or that nobody has asked about again. */
import { setTimeout as sleep } from 'node:timers/promises'
import { AckPolicy, jetstream, jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import { describe, expect, test } from 'vitest'
import { startNats } from '../../scripts/servers/nats.mjs'
import { consume as consumeStream } from '../../src/adapters/nats.js'
import { idOf } from '../../src/adapters/nats/message.js'
import { consume } from '../../src/guards/queue/index.js'
import { createIbid, OutcomeUnknown } from '../../src/index.js'
import { memoryStore } from '../../src/stores/memory/index.js'

interface Message {
  readonly id: string
}

describe('a status check', () => {
  test('[R7, R8] that took longer than the lease asks whose the message is before it is handled', async () => {
    const shared = memoryStore()
    let isSlow = false
    const slow = {
      ...shared,
      swap: async (changes: Parameters<typeof shared.swap>[0]) => {
        if (isSlow) await sleep(900)
        return await shared.swap(changes)
      },
    }
    const effects: string[] = []
    const consumer = (who: string, store: typeof shared) => {
      const ibid = createIbid({ store, tenant: 'acme', housekeeping: false, cache: false })
      let isFirst = who === 'one'
      return consume<Message, string>(ibid, {
        queue: 'orders',
        id: ({ id }) => id,
        lease: 200,
        recovery: {
          async check() {
            const [value] = effects
            isSlow = who === 'one'
            if (isSlow) await sleep(600)
            return value === undefined ? { found: false } : { found: true, value }
          },
        },
        handle() {
          if (isFirst) {
            isFirst = false
            throw new Error('busy')
          }
          effects.push(who)
          return who
        },
      })
    }
    const [one, other] = [consumer('one', slow), consumer('other', shared)]
    const message = { id: 'order-81' }
    expect((await one(message)).kind).toBe('retry')
    const again = one(message)
    await sleep(50)
    await expect.poll(async () => (await other(message)).kind).toBe('ack')
    expect(await again).toMatchObject({ kind: 'retry', code: 'LEASE_LOST' })
    expect(effects).toEqual(['other'])
  })

  test('[R7] is asked again for a message that a person gave back', async () => {
    const ibid = createIbid({ store: memoryStore(), tenant: 'acme', housekeeping: false })
    const effects: number[] = []
    let asked = 0
    const take = consume<Message, number>(ibid, {
      queue: 'orders',
      id: ({ id }) => id,
      recovery: {
        check: () => (asked++ === 0 ? { found: 'unclear' } : { found: true, value: 7 }),
      },
      handle(_message, { number }) {
        effects.push(number)
        throw new OutcomeUnknown('the line went dead')
      },
    })
    expect((await take({ id: 'order-81' })).kind).toBe('dead')
    const { receipts } = await ibid.list({ scope: 'queue:orders' })
    const [held] = receipts as readonly [(typeof receipts)[number]]
    await ibid.resolve(
      { scope: 'queue:orders', key: held.key },
      { as: 'released' },
      { by: 'ada', why: 'too early' },
    )
    expect(await take({ id: 'order-81' })).toMatchObject({ kind: 'ack', value: 7, replayed: true })
    expect([effects, asked]).toEqual([[1], 2])
  })
})

const said = (stream: string) =>
  ({ headers: { get: () => 'order-81' }, info: { stream }, seq: 1 }) as unknown as Parameters<typeof idOf>[0]

describe('JetStream', () => {
  test('[R21] a producer names a message within its stream, and not beyond', () => {
    expect(idOf(said('ORDERS'))).toBe(idOf(said('ORDERS')))
    expect(idOf(said('ORDERS'))).not.toBe(idOf(said('REFUNDS')))
    expect(idOf(said('A:order'))).not.toBe(idOf(said('A')))
  })

  test('[R42] no message waits in a consumer until its time is up and another has done it', async () => {
    const server = await startNats()
    const connection = await connect({ servers: server.url })
    const js = jetstream(connection)
    const jsm = await jetstreamManager(connection)
    await jsm.streams.add({ name: 'ORDERS', subjects: ['orders'] })
    const durable = { durable_name: 'billing', ack_policy: AckPolicy.Explicit, ack_wait: 1e9 }
    await jsm.consumers.add('ORDERS', durable)
    const ibid = createIbid({ store: memoryStore(), tenant: 'acme', housekeeping: false })
    const handled: string[] = []
    const start = async () =>
      await consumeStream(ibid, await js.consumers.get('ORDERS', 'billing'), {
        deadLetter: 'term',
        concurrency: 4,
        // Over when the slow ones are done: nothing but the broker then knows of the others.
        window: '1s',
        async handle(message) {
          handled.push(message.string())
          if (message.string().startsWith('slow')) await sleep(2_500)
        },
      })
    const names = [
      ...Array.from({ length: 4 }, (_, i) => `slow ${i}`),
      ...Array.from({ length: 4 }, (_, i) => `${i}`),
    ]
    for (const name of names) await js.publish('orders', name)
    const one = await start()
    await expect.poll(() => handled.length).toBe(4)
    const other = await start()
    await expect.poll(() => handled.length).toBe(8)
    await sleep(3_000)
    expect(handled.toSorted()).toEqual(names.toSorted())
    await Promise.all([one.stop(), other.stop()])
    await connection.close()
    await ibid.close()
    await server.stop()
  })
})
