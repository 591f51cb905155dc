/** What is particular to one broker: who is refused, what a dead letter carries, how many are claimed at once. */
import { AckPolicy, jetstream, type JetStreamClient, jetstreamManager } from '@nats-io/jetstream'
import { SQS } from '@aws-sdk/client-sqs'
import { connect, headers, type NatsConnection } from '@nats-io/transport-node'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { type NatsServer, startNats } from '../../scripts/servers/nats.mjs'
import { consume as consumeStream, toSubject, withMessageKey } from '../../src/adapters/nats.js'
import { consume as consumeSqs, withMessageKey as withSqsKey } from '../../src/adapters/sqs.js'
import type { Verdict } from '../../src/guards/queue/index.js'
import { createIbid, Rejected } from '../../src/index.js'
import { memoryStore } from '../../src/stores/memory/index.js'
import { type FaultyStore, faultyStore } from '../../src/testing/index.js'
// @ts-expect-error: a plain script without types
import { startSqsStandIn } from '../fixtures/brokers/sqs-stand-in.mjs'
import { failing } from './consumer.js'
import { until } from './stage.js'

const startStandIn = startSqsStandIn as () => Promise<{ readonly url: string; stop(): Promise<void> }>
let server: NatsServer
let connection: NatsConnection
let js: JetStreamClient

beforeAll(async () => {
  server = await startNats()
  connection = await connect({ servers: server.url })
  js = jetstream(connection)
})

afterAll(async () => {
  await connection?.close()
  await server?.stop()
})

const done = (): string => 'done'

function open(): { ibid: ReturnType<typeof createIbid>; store: FaultyStore } {
  const store = faultyStore(memoryStore())
  const ibid = createIbid({ store, tenant: 'acme', housekeeping: false })
  onTestFinished(() => ibid.close())
  return { ibid, store }
}

test.each([0, -1, 1.5, Number.NaN])(
  'a concurrency of %s is refused by name, before anything is asked',
  async (concurrency) => {
    const { ibid } = open()
    const wrong = { code: 'INVALID_INTENT', message: expect.stringContaining('concurrency') as string }
    const stream = consumeStream(ibid, {} as never, { deadLetter: 'term', handle: done, concurrency })
    await expect(stream).rejects.toMatchObject(wrong)
    const options = { queueUrl: 'http://sqs/q', deadLetter: 'http://sqs/dead', handle: done, concurrency }
    await expect(consumeSqs(ibid, {} as never, options)).rejects.toMatchObject(wrong)
  },
)

test.each([
  [
    'max_deliver',
    { durable_name: 'limited', ack_policy: AckPolicy.Explicit, max_deliver: 3 },
    /drop a message/,
  ],
  ['ack_policy all', { durable_name: 'all', ack_policy: AckPolicy.All }, /acknowledges others along/],
  ['ack_policy none', { durable_name: 'none', ack_policy: AckPolicy.None }, /acknowledges nothing/],
  ['no durable name', { ack_policy: AckPolicy.Explicit }, /not durable/],
])('a consumer of JetStream with %s is refused before it takes a message', async (name, config, message) => {
  const jsm = await jetstreamManager(connection)
  const stream = `refused-${name.replaceAll(' ', '-')}`
  await jsm.streams.add({ name: stream, subjects: [stream] })
  const { name: consumer } = await jsm.consumers.add(stream, config)
  const { ibid } = open()
  const started = consumeStream(ibid, await js.consumers.get(stream, consumer), {
    deadLetter: 'term',
    handle: () => 'done',
  })
  await expect(started).rejects.toMatchObject({
    code: 'INVALID_INTENT',
    message: expect.stringMatching(message),
  })
})

test('[R42] a dead letter of JetStream carries the body, the old headers, the key and the reason', async () => {
  const jsm = await jetstreamManager(connection)
  await jsm.streams.add({ name: 'orders', subjects: ['orders'] })
  await jsm.streams.add({ name: 'dead', subjects: ['dead.orders'] })
  await jsm.consumers.add('orders', { durable_name: 'billing', ack_policy: AckPolicy.Explicit })
  const all = withMessageKey('order-81', headers())
  all.set('trace', 'abc')
  await js.publish('orders', 'body', { headers: all, msgID: 'sent-1' })
  const { ibid } = open()
  const verdicts: Verdict[] = []
  const running = await consumeStream(ibid, await js.consumers.get('orders', 'billing'), {
    deadLetter: toSubject(js, 'dead.orders', headers),
    handle: failing(new Rejected('no such\naccount', { code: 'NO_ACCOUNT' })),
    onVerdict: (verdict) => verdicts.push(verdict),
  })
  await until(
    'a verdict',
    () => verdicts.length,
    (count) => count === 1,
  )
  await running.stop()
  const letter = await jsm.streams.getMessage('dead', { seq: 1 })
  expect(letter?.string()).toBe('body')
  const kept = ['ibid-message-key', 'trace', 'ibid-dead-code', 'ibid-dead-reason', 'Nats-Msg-Id']
  expect(kept.map((name) => letter?.header.get(name))).toEqual([
    'order-81',
    'abc',
    'NO_ACCOUNT',
    'no such account',
    'dead:billing:msg:orders:sent-1',
  ])
})

test('[R42] two consumers of one stream lay a message down twice, however much they have to say of it', async () => {
  const jsm = await jetstreamManager(connection)
  await jsm.streams.add({ name: 'shared', subjects: ['shared'] })
  await jsm.streams.add({ name: 'letters', subjects: ['letters'] })
  await js.publish('shared', 'body')
  const codes = ['first', 'second']
  for (const durable_name of codes) {
    await jsm.consumers.add('shared', { durable_name, ack_policy: AckPolicy.Explicit })
    const { ibid } = open()
    const kinds: string[] = []
    const running = await consumeStream(ibid, await js.consumers.get('shared', durable_name), {
      deadLetter: toSubject(js, 'letters', headers),
      handle: failing(new Rejected('no '.repeat(1_000_000), { code: durable_name })),
      onVerdict: ({ kind }) => kinds.push(kind),
      onError: (error) => kinds.push(String(error)),
    })
    await until(
      'a verdict',
      () => kinds.length,
      (count) => count === 1,
    )
    await running.stop()
    expect(kinds).toEqual(['dead'])
  }
  const letters = await Promise.all([1, 2].map((seq) => jsm.streams.getMessage('letters', { seq })))
  expect(letters.map((letter) => letter?.header.get('ibid-dead-code'))).toEqual(codes)
})

test('[R42] a stream that was made anew has other messages at the same places', async () => {
  const jsm = await jetstreamManager(connection)
  const { ibid } = open()
  let ran = 0
  for (const times of [1, 2]) {
    await jsm.streams.add({ name: 'anew', subjects: ['anew'] })
    await jsm.consumers.add('anew', { durable_name: 'billing', ack_policy: AckPolicy.Explicit })
    await js.publish('anew', 'tick')
    const kinds: string[] = []
    const running = await consumeStream(ibid, await js.consumers.get('anew', 'billing'), {
      deadLetter: 'term',
      handle: () => void ran++,
      onVerdict: ({ kind }) => kinds.push(kind),
    })
    await until(
      'a verdict',
      () => kinds.length,
      (count) => count === 1,
    )
    await running.stop()
    expect([ran, kinds]).toEqual([times, ['ack']])
    await jsm.streams.delete('anew')
  }
})

test('a producer for JetStream or SQS cannot set a key that a consumer would refuse', () => {
  expect(() => withMessageKey('', headers())).toThrow(/key has 0 characters/)
  expect(() => withSqsKey('k'.repeat(256))).toThrow(/key has 256 characters/)
  expect(withSqsKey('a', { b: { DataType: 'String', StringValue: 'c' } })).toEqual({
    b: { DataType: 'String', StringValue: 'c' },
    'ibid-message-key': { DataType: 'String', StringValue: 'a' },
  })
})

test('[R42] what SQS (a stand-in) hands out at once is claimed in one round trip', async () => {
  const standIn = await startStandIn()
  const credentials = { accessKeyId: 'test', secretAccessKey: 'test' }
  const sqs = new SQS({ endpoint: standIn.url, region: 'eu-west-1', credentials })
  onTestFinished(async () => {
    sqs.destroy()
    await standIn.stop()
  })
  const { QueueUrl } = await sqs.createQueue({ QueueName: 'orders' })
  for (let n = 0; n < 10; n++) await sqs.sendMessage({ QueueUrl, MessageBody: `order ${n}` })
  const { ibid, store } = open()
  const verdicts: Verdict[] = []
  const running = await consumeSqs(ibid, sqs, {
    queueUrl: QueueUrl as string,
    deadLetter: QueueUrl as string,
    handle: ({ Body }) => Body,
    onVerdict: (verdict) => verdicts.push(verdict),
  })
  await until(
    'ten verdicts',
    () => verdicts.length,
    (count) => count === 10,
  )
  await running.stop()
  expect(verdicts.every(({ kind }) => kind === 'ack')).toBe(true)
  expect([store.calls('claim'), store.calls('swap')]).toEqual([1, 1])
})
