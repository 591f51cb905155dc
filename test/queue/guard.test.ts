/** The queue guard by itself: which key a message has, and which verdict it gets for what. */
import { describe, expect, test } from 'vitest'
import { MESSAGE_KEY_HEADER, withMessageKey } from '../../src/guards/queue/index.js'
import { IbidError, NotExecuted, OutcomeUnknown, Rejected } from '../../src/index.js'
import { consumer, failing, keyed, type Message } from './consumer.js'

const bytes = (text: string): Message => keyed('event-1', { body: Buffer.from(text) })
const landedLate = () => ({ found: true as const, value: 'landed late' })

describe('the key of a message', () => {
  test("[R42] is the producer's, from plain headers or from a header object", async () => {
    const { take, runs } = consumer()
    await take(keyed('event-1', { id: 'a' }))
    await take({ id: 'b', headers: new Headers(withMessageKey('event-2', { other: 'x' })) })
    expect(await take(keyed('event-1', { id: 'c' }))).toMatchObject({
      kind: 'ack',
      value: 'a',
      replayed: true,
    })
    expect(runs).toEqual(['event-1', 'event-2'])
  })

  test('[R42] is else a hash of queue and id: the same for a redelivery, another for another queue', async () => {
    const orders = consumer()
    for (const id of [7, 7, 8]) expect((await orders.take({ id })).kind).toBe('ack')
    expect(orders.runs).toHaveLength(2)
    const bills = consumer({ queue: 'bills' })
    await bills.take({ id: 7 })
    expect(bills.runs).not.toEqual(orders.runs.slice(0, 1))
    expect(await orders.ibid.get({ scope: 'queue:orders', key: orders.runs[0] as string })).toMatchObject({
      state: 'succeeded',
      windowMs: 600_000,
      leaseMs: 30_000,
    })
  })

  test('[R1] belongs to a tenant, which a message may name', async () => {
    const { take, runs } = consumer({ tenant: ({ body }) => body as string }, null)
    await take(keyed('event-1', { body: 'north' }))
    await take(keyed('event-1', { body: 'south' }))
    expect(runs).toHaveLength(2)
  })

  test.each<[string, Message]>([
    ['neither key nor id', {}],
    ['an empty id', { id: '' }],
    ['a key that is no text', keyed(7)],
    ['a key that is too long', keyed('k'.repeat(256))],
    ['a key with a control character', keyed('a\u0000b')],
    ['a payload that has no canonical form', keyed('event', { body: 2 ** 60 })],
  ])('%s: dead, and nothing runs', async (_what, message) => {
    const { take, runs } = consumer({ payload: ({ body }) => body ?? null })
    expect(await take(message)).toMatchObject({ kind: 'dead', code: 'INVALID_INTENT' })
    expect(runs).toEqual([])
  })

  test('a message that its reader chokes on is dead, and nothing runs', async () => {
    const { take, runs } = consumer({ id: failing(new TypeError('no such field')) })
    expect(await take({})).toMatchObject({ kind: 'dead', reason: 'no such field' })
    expect(runs).toEqual([])
  })

  test('bytes are compared by what is in them', async () => {
    const { take } = consumer({ payload: ({ body }) => body })
    expect((await take(bytes('one'))).kind).toBe('ack')
    expect(await take(bytes('one'))).toMatchObject({ kind: 'ack', replayed: true })
    expect(await take(bytes('two'))).toMatchObject({ kind: 'dead', code: 'KEY_REUSED' })
  })

  test('a producer cannot set one that a consumer would refuse', () => {
    expect(withMessageKey('event-1', { a: 1 })).toEqual({ a: 1, [MESSAGE_KEY_HEADER]: 'event-1' })
    expect(() => withMessageKey('')).toThrow(/key has 0 characters/)
  })
})

describe('when the guard fails', () => {
  test('[R12, R42] its store is down: again in two seconds, and nothing runs', async () => {
    const { take, store, runs } = consumer()
    store.startOutage()
    expect(await take(keyed('event-1'))).toMatchObject({
      kind: 'retry',
      code: 'STORE_UNAVAILABLE',
      delayMs: 2_000,
    })
    expect(runs).toEqual([])
    store.endOutage()
    expect(await take(keyed('event-1'))).toMatchObject({ kind: 'ack', replayed: false })
    expect(runs).toHaveLength(1)
  })

  test('the program forgot the tenant: no message pays for that', async () => {
    const { take } = consumer({}, null)
    expect(await take(keyed('event-1'))).toMatchObject({
      kind: 'retry',
      code: 'INVALID_INTENT',
      delayMs: 2_000,
    })
  })

  test('it was closed: again, later, elsewhere', async () => {
    const { take, ibid } = consumer()
    await ibid.close()
    expect(await take(keyed('event-1'))).toMatchObject({ kind: 'retry', code: 'CLOSED' })
  })

  test.each<[string, object, RegExp]>([
    ['no handle', { handle: undefined }, /consume got no handle/],
    ['no id', { id: 'id' }, /consume got no id/],
    ['no queue', { queue: '\u0000' }, /scope has a control character/],
    ['a queue without a name', { queue: '' }, /consume got no queue/],
    ['a queue that is undefined', { queue: undefined }, /consume got no queue/],
    ['a tenant that is null', { tenant: null }, /tenant is neither/],
    ['the name of a header for a key', { key: 'ibid-message-key' }, /key is not a function/],
    ['the name of a field for a payload', { payload: 'body' }, /payload is not a function/],
    ['an identity that declares nothing', { identity: { ignores: ['at'] } }, /identity has ignores/],
    ['an identity without a list', { identity: { ignore: 'at' } }, /identity.ignore is not a list/],
    ['an unknown recovery', { recovery: 'pray' }, /recovery is none/],
    ['a misspelt recovery', { recover: 'hold' }, /recover is not an option of a consumer/],
    ['a check that is no function', { recovery: { check: true } }, /recovery is none/],
    ['no attempts', { maxAttempts: 0 }, /maxAttempts is 0/],
    ['a negative delay', { guardDelay: -1 }, /guardDelay/],
  ])('%s is refused when the consumer is made', async (_what, options, message) => {
    const { ibid } = consumer()
    const { consume } = await import('../../src/guards/queue/index.js')
    const whole = { queue: 'q', id: () => 'x', handle: () => 1, ...options }
    expect(() => consume(ibid, whole as Parameters<typeof consume>[1])).toThrow(message)
  })
})

describe('when the handler fails', () => {
  test('[R42] attempts are counted in the receipt: copies that are new to the broker do not start anew', async () => {
    const { take, runs } = consumer({ handle: failing(new Error('no')), maxAttempts: 3, deliveries: () => 1 })
    const verdicts = []
    for (const id of ['a', 'b', 'c', 'd', 'e']) verdicts.push(await take(keyed('event-1', { id })))
    expect(verdicts.map(({ kind }) => kind)).toEqual(['retry', 'retry', 'dead', 'dead', 'dead'])
    expect(verdicts.slice(0, 2)).toMatchObject([{ delayMs: 1_000, reason: 'no' }, { delayMs: 2_000 }])
    expect(runs).toHaveLength(3)
  })

  test('[R14] a dead one can be released by a person, and then runs once more', async () => {
    let isMended = false
    const handle = (): string => (isMended ? 'done' : failing(new Error('no'))())
    const { take, ibid, runs } = consumer({ handle, maxAttempts: 1 })
    expect((await take(keyed('event-1'))).kind).toBe('dead')
    isMended = true
    expect((await take(keyed('event-1'))).kind).toBe('dead')
    const where = { scope: 'queue:orders', key: 'event-1' }
    await ibid.resolve(where, { as: 'released' }, { by: 'ada', why: 'it never reached the bank' })
    expect(await take(keyed('event-1'))).toMatchObject({ kind: 'ack', value: 'done' })
    expect(runs).toHaveLength(2)
  })

  test('[R9] refused for good: dead at once, and again for every copy', async () => {
    const { take, runs } = consumer({
      handle: failing(new Rejected('no such account', { code: 'NO_ACCOUNT' })),
    })
    const both = [await take(keyed('event-1')), await take(keyed('event-1'))]
    expect(both).toMatchObject([
      { kind: 'dead', code: 'NO_ACCOUNT', reason: 'no such account' },
      { kind: 'dead', code: 'NO_ACCOUNT' },
    ])
    expect(runs).toHaveLength(1)
  })

  test('[R9] nothing happened: counted all the same, and known to be nothing at the end', async () => {
    const { take, runs } = consumer({
      handle: failing(new NotExecuted('busy', { retryAfterMs: 7 })),
      maxAttempts: 3,
    })
    const verdicts = []
    for (let n = 0; n < 4; n++) verdicts.push(await take(keyed('event-1')))
    expect(verdicts).toMatchObject([
      { kind: 'retry', code: 'NOT_EXECUTED', delayMs: 7 },
      { kind: 'retry', code: 'NOT_EXECUTED' },
      { kind: 'dead', code: 'ATTEMPTS_EXHAUSTED' },
      { kind: 'dead', code: 'ATTEMPTS_EXHAUSTED' },
    ])
    expect(runs).toHaveLength(3)
  })

  test("under hold nothing is counted in the receipt, so the broker's counter bounds what did nothing", async () => {
    const options = { recovery: 'hold', maxAttempts: 3, handle: failing(new NotExecuted('busy')) } as const
    const { take, runs } = consumer({ ...options, deliveries: ({ body }) => body as number })
    const kinds = []
    for (const body of [1, 2, 3, 4]) kinds.push((await take(keyed('event-1', { body }))).kind)
    expect(kinds).toEqual(['retry', 'retry', 'dead', 'dead'])
    expect(runs).toHaveLength(3)
  })

  test('[R7] under hold an error that says nothing is held: dead, after one run', async () => {
    const { take, runs } = consumer({ recovery: 'hold', handle: failing(new Error('timeout')) })
    expect(await take(keyed('event-1'))).toMatchObject({ kind: 'dead', code: 'OUTCOME_UNKNOWN' })
    expect((await take(keyed('event-1'))).kind).toBe('dead')
    expect(runs).toHaveLength(1)
  })

  test("an error of the handler's own that looks like the guard's counts as the handler's", async () => {
    const inner = new IbidError('down', { code: 'STORE_UNAVAILABLE', retriable: true, action: 'wait' })
    const { take, runs } = consumer({ handle: failing(inner), maxAttempts: 2 })
    const verdicts = [await take(keyed('event-1')), await take(keyed('event-1'))]
    expect(verdicts).toMatchObject([{ kind: 'retry', delayMs: 1_000 }, { kind: 'dead' }])
    expect(runs).toHaveLength(2)
  })

  test('the delay is what the consumer says: a length, or a length by attempt', async () => {
    const handle = failing(new Error('no'))
    const fixed = consumer({ handle, retryDelay: '5s' })
    expect(await fixed.take(keyed('a'))).toMatchObject({ delayMs: 5_000 })
    const growing = consumer({ handle, retryDelay: (attempt) => attempt * 10 })
    await growing.take(keyed('a'))
    expect(await growing.take(keyed('a'))).toMatchObject({ delayMs: 20 })
    const broken = consumer({ handle, retryDelay: () => Number.NaN })
    expect(await broken.take(keyed('a'))).toMatchObject({ kind: 'retry', delayMs: 1_000 })
  })

  test('one that takes too long is told so, and tried again', async () => {
    let aborted = false
    const { take } = consumer({
      timeout: 30,
      handle: (_message, { signal }) =>
        new Promise(() => signal.addEventListener('abort', () => (aborted = true))),
    })
    expect(await take(keyed('a'))).toMatchObject({ kind: 'retry', code: 'UPSTREAM_TIMEOUT', delayMs: 1_000 })
    expect(aborted).toBe(true)
  })
})

describe('with a status check', () => {
  test('[R7] it is asked before a second run, and what it finds is the value', async () => {
    let isDone = false
    const handle = (): never => {
      isDone = true
      return failing(new Error('the answer was lost'))()
    }
    const check = () => (isDone ? { found: true as const, value: 'found' } : { found: false as const })
    const { take, runs } = consumer({ handle, recovery: { check } })
    expect((await take(keyed('a'))).kind).toBe('retry')
    expect(await take(keyed('a'))).toMatchObject({ kind: 'ack', value: 'found', replayed: true })
    expect(runs).toHaveLength(1)
  })

  test('[R7] one that cannot tell lets nothing run: dead, until it can', async () => {
    let answer: { found: true; value: string } | { found: 'unclear' } = { found: 'unclear' }
    const { take, runs } = consumer({ handle: failing(new Error('no')), recovery: { check: () => answer } })
    await take(keyed('a'))
    expect(await take(keyed('a'))).toMatchObject({ kind: 'dead', code: 'OUTCOME_UNKNOWN' })
    answer = { found: true, value: 'there' }
    expect(await take(keyed('a'))).toMatchObject({ kind: 'ack', value: 'there', replayed: true })
    expect(runs).toHaveLength(1)
  })

  test('[R14] one that finds nothing does not lift the limit', async () => {
    const { take, runs } = consumer({
      handle: failing(new Error('no')),
      maxAttempts: 2,
      recovery: { check: () => ({ found: false }) },
    })
    const kinds = []
    for (let n = 0; n < 4; n++) kinds.push((await take(keyed('a'))).kind)
    expect(kinds).toEqual(['retry', 'dead', 'dead', 'dead'])
    expect(runs).toHaveLength(2)
  })

  test('the last attempt asks it once more before it gives up', async () => {
    const { take } = consumer({
      handle: failing(new Error('no')),
      maxAttempts: 1,
      recovery: { check: landedLate },
    })
    expect(await take(keyed('a'))).toMatchObject({ kind: 'ack', value: 'landed late' })
  })

  test('the handler itself may say that it does not know', async () => {
    const { take } = consumer({ handle: failing(new OutcomeUnknown('the bank is silent')) })
    expect(await take(keyed('a'))).toMatchObject({ kind: 'dead', reason: 'the bank is silent' })
  })
})
