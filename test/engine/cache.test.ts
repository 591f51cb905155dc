/** The cache of settled receipts: a shorter way to the same answer, and never to another one. */
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { copyPlain, isPlain, samePlain } from '../../src/core/tagged.js'
import { createSettledCache } from '../../src/engine/settled-cache.js'
import { NotExecuted, OutcomeUnknown, Rejected } from '../../src/index.js'
import { fingerprint } from '../../src/key/index.js'
import { bench, failure, INTENT, manual, turn, WHERE, within } from './bench.js'
import { virtualTime } from '../../src/testing/virtual-time.js'

function refuse(): never {
  throw new Rejected('no such payment', { code: 'NO_PAYMENT', data: { id: 7 } })
}

const settledReceipt = (key: string, outcome: string, until: number): never =>
  ({ ...WHERE, key, outcome, until, state: 'succeeded' }) as never

test('[R13] from the second replay on, a settled action is answered from the cache, without the store', async () => {
  const on = bench()
  const ibid = on.open()
  await ibid.once(INTENT, () => ({ id: 1 }))
  // Most keys never come again: the first duplicate asks the store, and is remembered for the ones after it.
  await ibid.once(INTENT, () => 'no')
  const calls = on.tap.calls.length
  for (let i = 0; i < 100; i++) {
    expect(await ibid.once(INTENT, () => 'no')).toMatchObject({ value: { id: 1 }, replayed: true })
  }
  expect(on.tap.calls).toHaveLength(calls)
})

test('[R13] nothing but a settled receipt is ever cached', async () => {
  const on = bench()
  const ibid = on.open()
  const pending = { ...INTENT, key: 'pending' }
  void ibid.once(pending, manual().effect).catch(() => undefined)
  await turn()
  const other = on.open()
  const claims = on.tap.count('claim')
  await failure(
    within(
      on,
      other.once(pending, () => 'no', { wait: 0 }),
    ),
  )
  await failure(
    within(
      on,
      other.once(pending, () => 'no', { wait: 0 }),
    ),
  )
  expect(on.tap.count('claim')).toBeGreaterThanOrEqual(claims + 2)

  const ends = { released: new NotExecuted('no'), unknown: new OutcomeUnknown('who knows') }
  for (const [key, error] of Object.entries(ends)) {
    await failure(ibid.once({ ...INTENT, key }, () => Promise.reject(error)))
    const before = on.tap.count('claim')
    await ibid.once({ ...INTENT, key }, () => 'again').catch(() => undefined)
    expect(on.tap.count('claim'), key).toBeGreaterThan(before)
  }
})

test('[R5, R13] a terminal failure is cached as well, and thrown again as the first', async () => {
  const on = bench()
  const ibid = on.open()
  await failure(ibid.once(INTENT, refuse))
  await failure(ibid.once(INTENT, refuse))
  const calls = on.tap.calls.length
  expect(await failure(ibid.once(INTENT, refuse))).toMatchObject({
    code: 'NO_PAYMENT',
    message: 'no such payment',
    data: { id: 7 },
    replayed: true,
  })
  expect(on.tap.calls).toHaveLength(calls)
})

test('[R4, R13] the payload is compared on a hit too', async () => {
  const on = bench()
  const ibid = on.open()
  await ibid.once(INTENT, () => 'first')
  await ibid.once(INTENT, () => 'no')
  for (const payload of [undefined, null, {}, { payment: 'pay_1' }, { payment: 'pay_1', amount: 11 }, '']) {
    const error = await failure(ibid.once({ ...INTENT, payload }, () => 'no'))
    expect(error.code).toBe('KEY_REUSED')
  }
  // The same content in another order and another object is the same payload.
  const same = await ibid.once({ ...INTENT, payload: { amount: 10, payment: 'pay_1' } }, () => 'no')
  expect(same.value).toBe('first')
})

test('[R13] recall answers at once what the process remembers, and knows nothing else', async () => {
  const on = bench()
  const ibid = on.open()
  expect(ibid.recall(INTENT)).toBeUndefined()
  const { receipt } = await ibid.once(INTENT, () => ({ id: 1, items: [{ sku: 'a' }] }))
  await ibid.once(INTENT, () => 'no')
  await ibid.once(INTENT, () => 'no')
  const calls = on.tap.calls.length
  const known = ibid.recall<{ id: number; items: { sku: string }[] }>(INTENT)
  expect(known).toEqual({ value: { id: 1, items: [{ sku: 'a' }] }, replayed: true, receipt })
  expect(on.tap.calls).toHaveLength(calls)
  // Another payload is a conflict, which is for once to say.
  expect(ibid.recall({ ...INTENT, payload: { amount: 99 } })).toBeUndefined()
  expect((await ibid.history(WHERE)).map(({ event, count }) => `${event} ${count}`)).toContain('dedup_hit 3')
})

test('[R13] what recall gives to many cannot be changed by one of them; what once gives can', async () => {
  const on = bench()
  const ibid = on.open()
  for (let i = 0; i < 3; i++) await ibid.once(INTENT, () => ({ items: [{ sku: 'a' }] }))
  const shared = ibid.recall<{ items: { sku: string }[] }>(INTENT)
  expect(() => Object.assign(shared?.value.items[0] ?? {}, { sku: 'b' })).toThrow(TypeError)
  const own = await ibid.once<{ items: { sku: string }[] }>(INTENT, () => ({ items: [] }))
  own.value.items.push({ sku: 'b' })
  expect(ibid.recall(INTENT)?.value).toEqual({ items: [{ sku: 'a' }] })
})

test.each<[string, () => unknown, (value: never) => unknown]>([
  ['an object', () => ({ id: 1, note: null }), (value: { id: number }) => (value.id = 2)],
  ['an array', () => [1, 2], (value: number[]) => value.push(3)],
  ['an object in an object', () => ({ a: { b: 1 } }), (value: { a: { b: number } }) => (value.a.b = 2)],
  [
    'an object in an array',
    () => [{ b: 1 }],
    (value: { b: number }[]) => Object.assign(value[0] ?? {}, { b: 2 }),
  ],
])("[R13] %s that once gave again is its caller's own", async (_, result, change) => {
  const ibid = bench().open()
  await ibid.once(INTENT, result)
  for (let i = 0; i < 3; i++) {
    const { value } = await ibid.once(INTENT, result)
    expect(value).toStrictEqual(result())
    change(value as never)
  }
})

test('[R5, R13] recall throws again what was refused', async () => {
  const on = bench()
  const ibid = on.open()
  for (let i = 0; i < 3; i++) await failure(ibid.once(INTENT, refuse))
  expect(() => ibid.recall(INTENT)).toThrow(expect.objectContaining({ code: 'NO_PAYMENT', replayed: true }))
})

test('[R4, R23] the same payload, read by another identity, is not taken for the same on the fast path', async () => {
  const on = bench()
  const ibid = on.open()
  const intent = { ...INTENT, identity: { ignore: ['reason'] }, payload: { amount: 1, reason: 'a' } }
  await ibid.once(intent, () => 'first')
  for (let i = 0; i < 2; i++) expect((await ibid.once(intent, () => 'no')).value).toBe('first')
  expect(ibid.recall(intent)?.value).toBe('first')
  const { identity: _identity, ...whole } = intent
  expect((await failure(ibid.once(whole, () => 'no').then(fail))).code).toBe('KEY_REUSED')
  const other = { ...intent, payload: { amount: 1, reason: 'b' } }
  expect((await ibid.once(other, () => 'no')).value).toBe('first')
})

test('[R4, R22] a payload with a member __proto__ is not taken for another one on the fast path', async () => {
  const on = bench()
  const ibid = on.open()
  const odd: unknown = JSON.parse('{"__proto__":{}}')
  await ibid.once({ ...INTENT, payload: odd }, () => 'odd').catch(() => undefined)
  await ibid.once({ ...INTENT, payload: odd }, () => 'odd').catch(() => undefined)
  const error = await failure(ibid.once({ ...INTENT, payload: { x: 1 } }, () => 'no').then(fail))
  expect(error.code).toBe('KEY_REUSED')
})

function fail(value: unknown): never {
  throw new TypeError(`it was answered with ${JSON.stringify(value)}`)
}

test('[R4, R22] what the fast path takes for the same payload has the same fingerprint, always', () => {
  const strange = fc.constantFrom<unknown>(0, -0, '', '0', null, false, 1, JSON.parse('{"__proto__":{}}'), {})
  const payload = fc.letrec<{ node: unknown }>((tie) => ({
    node: fc.oneof(
      { depthSize: 'small' },
      strange,
      fc.integer(),
      fc.string(),
      fc.array(tie('node'), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom('a', 'b', '__proto__', 'toString'), tie('node'), {
        noNullPrototype: false,
      }),
    ),
  })).node
  let same = 0
  fc.assert(
    fc.property(payload, payload, (one, two) => {
      if (!isPlain(one)) return
      for (const other of [two, structuredClone(one), one]) {
        if (!samePlain(copyPlain(one), other)) continue
        same++
        expect(fingerprint(other)).toBe(fingerprint(one))
      }
    }),
    { numRuns: 2_000 },
  )
  expect(same).toBeGreaterThan(500)
})

test('[R4] a payload that was changed while its duplicate waited does not stand for the first one', async () => {
  const on = bench()
  const ibid = on.open()
  const work = manual()
  const payload = { amount: 10 }
  const first = ibid.once({ ...INTENT, payload: { amount: 10 } }, work.effect)
  await turn()
  const joined = ibid.once({ ...INTENT, payload }, work.effect)
  payload.amount = 99
  await work.succeed('ten')
  expect((await Promise.all([first, joined])).map(({ value }) => value)).toEqual(['ten', 'ten'])
  const error = await failure(ibid.once({ ...INTENT, payload: { amount: 99 } }, () => 'no').then(fail))
  expect(error.code).toBe('KEY_REUSED')
})

test('[R11, R13] a cached receipt is served until its window ends, and not after', async () => {
  const on = bench()
  const ibid = on.open()
  let runs = 0
  const effect = (): number => ++runs
  await ibid.once(INTENT, effect, { window: '10s' })
  await on.time.pass(4_000)
  const other = on.open()
  expect((await other.once(INTENT, effect)).value).toBe(1)
  await on.time.pass(5_999)
  expect((await ibid.once(INTENT, effect)).value).toBe(1)
  expect((await other.once(INTENT, effect)).value).toBe(1)
  await on.time.pass(1)
  expect((await other.once(INTENT, effect)).value).toBe(2)
  expect((await ibid.once(INTENT, effect)).value).toBe(2)
})

test('[R13] the cache is bounded by entries and by characters, and keeps what is used', () => {
  const { timers } = virtualTime()
  const cache = createSettledCache({ maxEntries: 10, maxCharacters: 1_000 }, timers)
  const held = (): number =>
    Array.from({ length: 500 }, (_, n) => cache.get({ ...WHERE, key: `k${n}` })).filter(
      (entry) => entry !== undefined,
    ).length
  for (let n = 0; n < 500; n++) {
    cache.put(settledReceipt(`k${n}`, '{"value":1}', 1_000), 0, 0)
    expect(cache.get({ ...WHERE, key: 'k0' }), `after ${n}`).toBeDefined()
  }
  expect(held()).toBeLessThanOrEqual(10)
  for (let n = 0; n < 50; n++) cache.put(settledReceipt(`k${n}`, 'x'.repeat(300), 1_000), 0, 0)
  expect(held()).toBeLessThanOrEqual(3)
  cache.put(settledReceipt('large', 'x'.repeat(501), 1_000), 0, 0)
  expect(cache.get({ ...WHERE, key: 'large' })).toBeUndefined()
})

test.each([
  ['entries', { maxEntries: 10, maxCharacters: 100_000 }],
  ['characters', { maxEntries: 1_000, maxCharacters: 1_000 }],
])('[R13] as many %s as it may hold are held, all of them', (_, limits) => {
  const cache = createSettledCache(limits, virtualTime().timers)
  for (let n = 0; n < 10; n++) cache.put(settledReceipt(`k${n}`, 'x'.repeat(100), 1_000), 0, 0)
  for (const key of ['k0', 'k9']) expect(cache.get({ ...WHERE, key }), key).toBeDefined()
})

test('[R13] what is asked for again and again drives nothing else out', () => {
  const cache = createSettledCache({ maxEntries: 100, maxCharacters: 1_000 }, virtualTime().timers)
  for (const key of ['often', 'rarely']) cache.put(settledReceipt(key, 'x'.repeat(100), 1_000), 0, 0)
  for (let n = 0; n < 50; n++) expect(cache.get({ ...WHERE, key: 'often' })).toBeDefined()
  expect(cache.get({ ...WHERE, key: 'rarely' })).toBeDefined()
})

test('[R13] without a cache every duplicate asks the store, and gets the same', async () => {
  const on = bench()
  const ibid = on.open({ cache: false })
  await ibid.once(INTENT, () => 'one')
  const claims = on.tap.count('claim')
  expect((await ibid.once(INTENT, () => 'no')).value).toBe('one')
  expect((await ibid.once(INTENT, () => 'no')).value).toBe('one')
  expect(on.tap.count('claim')).toBe(claims + 2)
})

test.each(['tenant', 'scope'] as const)(
  '[R1, R13] what is remembered under one key belongs to its %s, whoever asked last',
  async (part) => {
    const on = bench()
    const ibid = on.open()
    const places = ['one', 'two', 'three'].map((name) => ({ ...INTENT, [part]: name }))
    for (const place of places) await ibid.once(place, () => place[part])
    for (const place of [...places, ...places.toReversed(), ...places]) {
      expect((await ibid.once(place, () => 'no')).value).toBe(place[part])
    }
    const calls = on.tap.calls.length
    for (const place of places.toReversed()) expect(ibid.recall(place)?.value).toBe(place[part])
    expect(ibid.recall({ ...INTENT, [part]: 'four' })).toBeUndefined()
    expect(on.tap.calls).toHaveLength(calls)
  },
)
