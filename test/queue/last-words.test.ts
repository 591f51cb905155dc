/** What is said of a message at its end: by whatever was thrown, to a dead letter that takes its time. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { JetStreamClient, JsMsg } from '@nats-io/jetstream'
import { headers } from '@nats-io/transport-node'
import { describe, expect, test } from 'vitest'
import { consume as consumeRabbit } from '../../src/adapters/amqp.js'
import { processor } from '../../src/adapters/bullmq.js'
import { consume as consumeStream, toSubject } from '../../src/adapters/nats.js'
import { consume as consumeSqs } from '../../src/adapters/sqs.js'
import { consume, createDeliveries, type Dead, poll } from '../../src/guards/queue/index.js'
import { NotExecuted, Rejected } from '../../src/index.js'
import { consumer, failing, keyed, type Message } from './consumer.js'

const mute = (): object => Object.create(null) as object
const nobody = async (): Promise<never> => undefined as never
const named = (name: string): Error => Object.assign(new Error(name), { name })
const UNREADABLE = 'what was thrown cannot be read'

describe('whatever is thrown', () => {
  test('[R42] by a handler is a verdict', async () => {
    const { take } = consumer({ handle: failing(mute()) })
    expect(await take(keyed('a'))).toMatchObject({ kind: 'retry', reason: UNREADABLE })
  })

  test('[R42] by what reads a message is a dead letter', async () => {
    const { ibid } = consumer()
    const take = consume<Message>(ibid, { queue: 'q', id: failing(mute()), handle: () => 1 })
    expect(await take({})).toMatchObject({ kind: 'dead', reason: UNREADABLE })
  })

  test('[R42] has a text for a code, also where a program gave it none', async () => {
    const refusal = new Rejected('no such account', { code: 404 as unknown as string })
    const { take } = consumer({ handle: failing(refusal) })
    expect(await take(keyed('a'))).toMatchObject({ kind: 'dead', code: '404' })
  })
})

test('[R42] a dead letter that takes longer than the broker waits keeps its message meanwhile', async () => {
  let told = 0
  let laid = 0
  const { take } = consumer({ lease: 90, working: () => told++, handle: failing(new Rejected('no')) })
  const slow = async (): Promise<void> => {
    await sleep(300)
    laid++
  }
  await createDeliveries(take, { ack: () => 0, retry: () => 0, dead: slow }).take(keyed('a'))
  expect(laid).toBe(1)
  expect(told).toBeGreaterThanOrEqual(3)
  const before = told
  await sleep(100)
  expect(told).toBe(before)
})

test('[R42] a dead letter that is too large with its headers is laid down without', async () => {
  const sent: unknown[] = []
  const js = {
    async publish(_subject: string, data: Uint8Array, options?: object) {
      if (options) throw new Error("'payload' max_payload size exceeded")
      sent.push(data)
    },
  } as unknown as JetStreamClient
  const message = {
    data: new Uint8Array(7),
    headers: undefined,
    info: { stream: 's', consumer: 'c' },
    seq: 1,
  }
  const dead: Dead = { kind: 'dead', code: 'NO', reason: 'no', error: undefined }
  await toSubject(js, 'dead', headers)(message as unknown as JsMsg, dead)
  expect(sent).toEqual([message.data])
  const closed = { publish: failing(new Error('closed')) } as unknown as JetStreamClient
  await expect(toSubject(closed, 'dead', headers)(message as unknown as JsMsg, dead)).rejects.toThrow(
    'closed',
  )
})

test('[R14] a limit that the broker counts is told as one of deliveries, and what to do can be done', async () => {
  const handle = failing(new NotExecuted('bank closed'))
  const { take } = consumer({ recovery: 'hold', maxAttempts: 2, deliveries: () => 6, handle })
  const { error, reason } = (await take(keyed('a'))) as Dead
  expect(reason).toBe('given up after 6 deliveries, none of which did anything: bank closed')
  expect(error).toMatchObject({ action: expect.stringContaining('under a new key') as string })
})

const REFUSED = (name: string): object => ({
  code: 'INVALID_INTENT',
  message: expect.stringContaining(name) as string,
})
const given = (name: string) => ({ queue: 'q', handle: () => 1, [name]: () => 1 })

test.each(['id', 'working', 'deliveries', 'lease'])(
  '[R42] %s is refused where the broker says it',
  async (name) => {
    const { ibid } = consumer()
    const stream = consumeStream(ibid, {} as never, { ...given(name), deadLetter: 'term' })
    await expect(stream).rejects.toMatchObject(REFUSED(name))
    const queueUrl = 'http://sqs/1/orders'
    const sqs = consumeSqs(ibid, {} as never, { ...given(name), queueUrl, deadLetter: queueUrl })
    await expect(sqs).rejects.toMatchObject(REFUSED(name))
  },
)

test.each(['id', 'working', 'deliveries', 'concurrency'])('[R42] RabbitMQ says %s itself', async (name) => {
  const { ibid } = consumer()
  const rabbit = consumeRabbit(ibid, {} as never, { ...given(name), deadLetter: 'dlx' })
  await expect(rabbit).rejects.toMatchObject(REFUSED(name))
})

test.each(['id', 'deliveries', 'concurrency'])('[R42] BullMQ says %s itself', (name) => {
  const { ibid } = consumer()
  expect(() => processor(ibid, given(name))).toThrow(expect.objectContaining(REFUSED(name)))
})

test('a broker that hands out nothing at all is asked again, and somebody is told', async () => {
  const { take } = consumer()
  const errors: unknown[] = []
  const nothing = { ack: () => 0, retry: () => 0, dead: () => 0 }
  const running = poll(createDeliveries(take, nothing), 1, nobody, (error) => errors.push(error))
  await expect.poll(() => errors.length).toBe(1)
  await running.stop()
})

test('a consumer that was deleted is told to whoever watches', async () => {
  const { ibid } = consumer()
  const config = { durable_name: 'billing', ack_policy: 'explicit' }
  let asked = 0
  const jetstream = {
    info: async () =>
      asked++ === 0 ? { stream_name: 'orders', config } : failing(named('ConsumerNotFoundError'))(),
    fetch: async () => failing(named('JetStreamStatusError'))(),
  }
  const { ended } = await consumeStream(ibid, jetstream as never, { deadLetter: 'term', handle: () => 0 })
  await expect(ended).rejects.toThrow('ConsumerNotFoundError')
})
