/** What may not cost a message its verdict, or the process its life: logs that throw, odd times, lost counters. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { ConsumerMessages } from '@nats-io/jetstream'
import type { Channel, ConsumeMessage } from 'amqplib'
import type { Job } from 'bullmq'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { consume as consumeRabbit } from '../../src/adapters/amqp.js'
import { processor } from '../../src/adapters/bullmq.js'
import { consume as consumeStream } from '../../src/adapters/nats.js'
import { consume as consumeSqs } from '../../src/adapters/sqs.js'
import { consume, createDeliveries, poll, type Verdict } from '../../src/guards/queue/index.js'
import { createIbid, IbidError, NotExecuted, OutcomeUnknown } from '../../src/index.js'
import { memoryStore } from '../../src/stores/memory/index.js'
import { stillClock } from '../../src/testing/index.js'
import { consumer, failing, keyed, type Message } from './consumer.js'

const unheard: unknown[] = []
const hear = (error: unknown): void => void unheard.push(error)
beforeEach(() => {
  unheard.length = 0
  process.on('unhandledRejection', hear)
})
afterEach(() => {
  process.off('unhandledRejection', hear)
  expect(unheard).toEqual([])
})

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
const silent = { ack: () => 0, retry: () => 0, dead: () => 0 }

describe.each<[string, () => never]>([
  ['at once', failing(new Error('the log is full'))],
  ['later', (async () => failing(new Error('the log is full'))()) as unknown as () => never],
])('a log that throws %s', (_when, log) => {
  test('loses no verdict, and is not taken for a broker that could not be told', async () => {
    const { take } = consumer()
    const errors: unknown[] = []
    const told = createDeliveries(take, silent, { onVerdict: log, onError: (error) => errors.push(error) })
    await told.take(keyed('a'))
    const broken = { ...silent, ack: failing(new Error('closed')) }
    await createDeliveries(take, broken, { onError: log }).take(keyed('a'))
    await turn()
    expect(errors).toEqual([])
  })

  test('does not end the asking', async () => {
    const { take } = consumer()
    let asked = 0
    const receive = (): Promise<never> => Promise.reject(new Error(`no network ${++asked}`))
    const running = poll(createDeliveries(take, silent), 1, receive, log)
    await turn()
    await running.stop()
    expect(asked).toBe(1)
  })

  test('does not fail a job of BullMQ that is to be tried again', async () => {
    const { ibid } = consumer()
    const moved: number[] = []
    const later: () => unknown = failing(new Error('later'))
    const run = processor(ibid, {
      queue: 'jobs',
      handle: later,
      onVerdict: log,
    })
    await expect(run(jobOf(moved), 'token')).rejects.toMatchObject({ name: 'DelayedError' })
    expect(moved).toHaveLength(1)
    await turn()
  })
})

function jobOf(moved: number[], over: object = {}): Job {
  const moveToDelayed = async (at: number): Promise<void> => void moved.push(at)
  return { id: '1', timestamp: 1, data: {}, attemptsStarted: 1, moveToDelayed, ...over } as unknown as Job
}

describe('[R42] a job of BullMQ', () => {
  test.each([
    ['a number that Redis gave out twice is two jobs', '1', 2],
    ['a name that its producer gave is one', 'order-81', 1],
  ])('with %s', async (_what, id, runs) => {
    const { ibid } = consumer()
    let ran = 0
    const run = processor(ibid, { queue: 'jobs', handle: () => ++ran })
    for (const timestamp of [1, 1, 2]) await run(jobOf([], { id, timestamp }))
    expect(ran).toBe(runs)
  })
})

describe('a time that is none', () => {
  test.each([Number.NaN, Number.POSITIVE_INFINITY, -1])('%s: the usual delay', async (retryAfterMs) => {
    const facts = { code: 'BUSY', retriable: true, action: 'later', retryAfterMs }
    const { take } = consumer({ handle: failing(new IbidError('busy', facts)) })
    expect(await take(keyed('a'))).toMatchObject({ kind: 'retry', delayMs: 1_000 })
  })

  test('longer than a timer lasts: RabbitMQ does not get the message back at once', async () => {
    const { ibid } = consumer()
    const told: string[] = []
    let deliver: ((message: ConsumeMessage) => void) | undefined
    const channel = {
      consume: async (_queue: string, take: typeof deliver) => ((deliver = take), { consumerTag: 'one' }),
      cancel: async () => ({}),
      ack: () => told.push('ack'),
      nack: () => told.push('nack'),
    } as unknown as Channel
    const running = await consumeRabbit(ibid, channel, {
      queue: 'orders',
      deadLetter: 'dlx',
      retryDelay: '30d',
      window: '90d',
      handle: failing(new Error('later')),
    })
    deliver?.({ content: Buffer.from('a'), properties: { messageId: 'a' } } as unknown as ConsumeMessage)
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(told).toEqual([])
    await running.stop()
    expect(told).toEqual(['nack'])
  })
})

test.each<[string, object]>([
  ['an error asks for', { handle: failing(new NotExecuted('busy', { retryAfterMs: 3_600_000 })) }],
  ['the consumer was given', { retryDelay: '1h', handle: failing(new Error('busy')) }],
  ['a function gives', { retryDelay: () => '1h', handle: failing(new Error('busy')) }],
])('[R42] a delay that %s and that is longer than the window costs no attempt', async (_who, options) => {
  const clock = stillClock()
  const ibid = createIbid({ store: memoryStore({ clock }), tenant: 'acme', housekeeping: false })
  let runs = 0
  const { handle, ...rest } = options as { handle: () => never }
  const counted = (): never => (runs++, handle())
  const take = consume<Message>(ibid, { queue: 'q', id: () => 1, maxAttempts: 3, ...rest, handle: counted })
  for (let verdict = await take({}); verdict.kind === 'retry'; verdict = await take({}))
    clock.advance(verdict.delayMs)
  expect(runs).toBe(3)
})

test('[R14] a held message whose status check hangs is dead when its time is up, and its check is told', async () => {
  const signals: AbortSignal[] = []
  const check = (_message: Message, { signal }: { readonly signal: AbortSignal }): Promise<never> => {
    signals.push(signal)
    return new Promise(() => {})
  }
  const handle = failing(new OutcomeUnknown('the line went dead'))
  const { take } = consumer({ recovery: { check }, lease: 100, timeout: 200, handle })
  expect(await take(keyed('a'))).toMatchObject({ kind: 'dead' } satisfies Partial<Verdict>)
  expect(signals.map(({ aborted }) => aborted)).toEqual([true])
}, 10_000)

test('a consumption that the server ends is told to whoever watches, and ends no process', async () => {
  const { ibid } = consumer()
  const config = { durable_name: 'billing', ack_policy: 'explicit' }
  // oxlint-disable-next-line require-yield -- ends before its first message
  const messages = (async function* () {
    throw new Error('permissions violation')
  })() as unknown as ConsumerMessages
  const jetstream = { info: async () => ({ stream_name: 'orders', config }), fetch: async () => messages }
  const { ended } = await consumeStream(ibid, jetstream as never, { deadLetter: 'term', handle: () => 0 })
  await turn()
  await expect(ended).rejects.toThrow('permissions violation')
})

test.each([undefined, 'dlq', ''])(
  '[R42] dead letters that go to %j are refused before a message is',
  async (where) => {
    const { ibid } = consumer()
    const options = { queue: 'orders', handle: () => 1, deadLetter: where as never }
    const refused = { code: 'INVALID_INTENT', message: expect.stringContaining('deadLetter') as string }
    await expect(consumeRabbit(ibid, {} as never, options)).rejects.toMatchObject(refused)
    await expect(consumeStream(ibid, {} as never, options)).rejects.toMatchObject(refused)
    const queueUrl = 'http://sqs/1/orders'
    await expect(consumeSqs(ibid, {} as never, { ...options, queueUrl })).rejects.toMatchObject(refused)
  },
)

test('a lease whose third is longer than a timer lasts does not tell the broker all the time', async () => {
  let told = 0
  const { take } = consumer({ lease: '90d', working: () => told++, handle: async () => await sleep(50) })
  expect((await take(keyed('a'))).kind).toBe('ack')
  expect(told).toBe(0)
})

test('[R42] a job that Redis does not take back is left to come again, and not failed for good', async () => {
  const { ibid } = consumer()
  const handle: () => unknown = failing(new Error('later'))
  const lost = Promise.reject(new Error('Connection is closed.'))
  lost.catch(() => undefined)
  const run = processor(ibid, { queue: 'jobs', handle })
  await expect(run(jobOf([], { moveToDelayed: () => lost }), 'token')).rejects.toMatchObject({
    name: 'DelayedError',
  })
})

test('[R42] a held message of RabbitMQ runs as often as it may, by the count of its queue', async () => {
  const { ibid } = consumer()
  const verdicts: string[] = []
  let deliver: ((message: ConsumeMessage | null) => void) | undefined
  const channel = {
    consume: async (_queue: string, take: typeof deliver) => ((deliver = take), { consumerTag: 'one' }),
    cancel: async () => ({}),
    nack: () => 0,
  } as unknown as Channel
  let runs = 0
  const handle = (): never => (runs++, failing(new NotExecuted('not yet', { retryAfterMs: 0 }))())
  const running = await consumeRabbit(ibid, channel, {
    queue: 'orders',
    deadLetter: 'dlx',
    recovery: 'hold',
    maxAttempts: 3,
    handle,
    onVerdict: ({ kind }) => verdicts.push(kind),
    onCancel: failing(new Error('the log is full')),
  })
  for (let before = 0; verdicts.at(-1) !== 'dead' && before < 9; before++) {
    const headers = before === 0 ? {} : { 'x-delivery-count': before }
    const properties = { messageId: 'a', headers }
    deliver?.({ content: Buffer.from('a'), properties } as unknown as ConsumeMessage)
    while (verdicts.length <= before) await turn()
  }
  expect([runs, verdicts]).toEqual([3, ['retry', 'retry', 'dead']])
  deliver?.(null)
  await running.stop()
})

test('[R42] a held message that may run once does so, also where nobody counts', async () => {
  const { take } = consumer({ recovery: 'hold', maxAttempts: 1, handle: failing(new NotExecuted('not yet')) })
  expect(await take(keyed('a'))).toMatchObject({ kind: 'dead', code: 'ATTEMPTS_EXHAUSTED' })
})
