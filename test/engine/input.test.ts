/** Bad input is refused before anything is claimed, and the error names the field. */
import { expect, test } from 'vitest'
import { createIbid, type Intent, type ListQuery, type Policy } from '../../src/index.js'
import { memoryStore } from '../../src/stores/memory/index.js'
import { bench, failure, INTENT, WHERE } from './bench.js'

const without = (field: string): object =>
  Object.fromEntries(Object.entries(INTENT).filter(([name]) => name !== field))

test.each([
  ['tenant is missing', without('tenant')],
  ['scope is missing', without('scope')],
  ['key is missing', without('key')],
  ['tenant is not a string but number', { ...INTENT, tenant: 7 }],
  ['key is not a string but null', { ...INTENT, key: null }],
  ['key has 0 characters', { ...INTENT, key: '' }],
  ['key has 256 characters', { ...INTENT, key: 'k'.repeat(256) }],
  ['scope has a control character', { ...INTENT, scope: 'a\nb' }],
  ['key has a control character or half a surrogate pair', { ...INTENT, key: '\ud800' }],
  ['payload', { ...INTENT, payload: () => 1 }],
])('[R1] an intent: %s', async (message, intent) => {
  const on = bench()
  const ibid = on.open()
  let runs = 0
  const error = await failure(ibid.once(intent as Intent, () => ++runs))
  expect(error).toMatchObject({ code: 'INVALID_INTENT', retriable: false })
  expect(error.message).toContain(message)
  expect(error.message).toMatch(/nothing was executed/)
  expect(error.action).toBeTruthy()
  expect(runs).toBe(0)
  expect(on.tap.count('claim')).toBe(0)
})

test('[R1] names are read once: one that reads otherwise later does not get by unchecked', async () => {
  const ibid = bench().open()
  const once = (intent: Intent): Promise<unknown> => ibid.once(intent, () => 1)
  const calls = [once, ibid.claim, (intent: Intent) => ibid.transact(intent, () => 1)]
  for (const [i, call] of calls.entries()) {
    let reads = 0
    await call({
      ...INTENT,
      get key() {
        return reads++ === 0 ? `first${i}` : 'line\nbreak'
      },
    })
    expect(reads).toBe(1)
  }
  const { receipts } = await ibid.list({})
  expect(receipts.map(({ key }) => key).sort()).toEqual(['first0', 'first1', 'first2'])
})

test.each([
  ['an intent', undefined, (): number => 1],
  ['an intent', null, (): number => 1],
  ['effect', INTENT, undefined],
  ['effect', INTENT, 'do it'],
])('[R1] a call without %s is refused, and claims nothing', async (field, intent, effect) => {
  const on = bench()
  const ibid = on.open()
  for (const call of [
    ibid.once(intent as Intent, effect as () => number),
    ibid.transact(intent as Intent, effect as () => number),
  ]) {
    const error = await failure(call)
    expect(error.code).toBe('INVALID_INTENT')
    expect(error.message).toContain(field.replace('an ', ''))
  }
  expect(on.tap.count('claim')).toBe(0)
})

test.each([
  ['policy.lease', { lease: 0 }],
  ['policy.lease', { lease: '5 parsecs' }],
  ['policy.window', { window: -1 }],
  ['policy.wait', { wait: Number.NaN }],
  ['policy.timeout', { timeout: '0s' }],
  ['policy.maxAttempts', { maxAttempts: 0 }],
  ['policy.recovery', { recovery: 'hope' }],
  ['policy.recovery', { recovery: {} }],
  ['policy.leese', { leese: '5s' }],
])('[R7] a policy: %s', async (field, policy) => {
  const on = bench()
  const error = await failure(on.open().once(INTENT, () => 1, policy as Policy<number>))
  expect(error.code).toBe('INVALID_INTENT')
  expect(error.message).toContain(field)
  expect(() => on.open({ policy: policy as Policy })).toThrow(field)
  expect(on.tap.count('claim')).toBe(0)
})

test('[R1] a program with a single tenant names it once; an intent may still name its own', async () => {
  const on = bench()
  const ibid = on.open({ tenant: 'acme' })
  const { tenant: _tenant, ...rest } = INTENT
  await ibid.once(rest, () => 'acme')
  await ibid.once({ ...rest, tenant: 'globex' }, () => 'globex')
  expect((await ibid.get(WHERE))?.value).toBe('acme')
  expect((await ibid.get({ ...WHERE, tenant: 'globex' }))?.value).toBe('globex')
  expect(() => createIbid({ store: on.store, tenant: '' })).toThrow(/tenant has 0 characters/)
})

test('[R1] tenant, scope and key are apart: no two addresses meet', async () => {
  const on = bench()
  const ibid = on.open()
  const parts = ['a', 'ab', 'b', 'a:b', ':', '1:1:a']
  let runs = 0
  for (const tenant of parts) {
    for (const scope of parts) {
      for (const key of parts) {
        const { value } = await ibid.once({ tenant, scope, key }, () => ++runs)
        expect(value).toBe(runs)
      }
    }
  }
  expect(runs).toBe(parts.length ** 3)
})

test.each([
  ['by', { as: 'released' }, { by: '', why: 'seen' }],
  ['why', { as: 'released' }, { by: 'ada', why: '  ' }],
  ['why', { as: 'released' }, { by: 'ada' }],
  ['by', { as: 'released' }, undefined],
  ['resolution.as', { as: 'done' }, { by: 'ada', why: 'seen' }],
  ['resolution', undefined, { by: 'ada', why: 'seen' }],
  ['resolution.error', { as: 'failed' }, { by: 'ada', why: 'seen' }],
])('[R14] a resolution: %s', async (field, resolution, resolver) => {
  const on = bench()
  const error = await failure(on.open().resolve(WHERE, resolution as never, resolver as never))
  expect(error.code).toBe('INVALID_INTENT')
  expect(error.message).toContain(field)
})

test.each([0, 1_001, 1.5, Number.NaN])('[R14] a page of %s receipts is refused', async (limit) => {
  const error = await failure(bench().open().list({ limit }))
  expect(error).toMatchObject({ code: 'INVALID_INTENT' })
  expect(error.message).toContain('limit')
})

test.each([
  ['state is "held"', { state: 'held' }],
  ['state is "held"', { state: ['unknown', 'held'] }],
  ['stat is not an option of list', { stat: 'unknown' }],
])('a list that would leave out what is meant, or everything: %s', async (message, query) => {
  const error = await failure(
    bench()
      .open()
      .list(query as ListQuery),
  )
  expect(error).toMatchObject({ code: 'INVALID_INTENT' })
  expect(error.message).toContain(message)
})

test("[R7] a member of a policy without a value leaves the program's own choice, not that of the house", async () => {
  const policy = { window: '7d', recovery: 'retry', maxAttempts: 2, wait: '1s' } as const
  const ibid = bench().open({ policy })
  const unsaid = Object.fromEntries(Object.keys(policy).map((field) => [field, undefined]))
  const { receipt } = await ibid.once(INTENT, () => 1, unsaid)
  expect(receipt).toMatchObject({ windowMs: 7 * 86_400_000, recovery: 'retry', maxAttempts: 2 })
})

test('[R13] a claim that does not say how long it waits does not wait, also where it says undefined', async () => {
  const ibid = createIbid({ store: memoryStore(), housekeeping: false })
  await ibid.claim(INTENT)
  const unsaid = { wait: undefined } as object
  const answered = ibid.claim(INTENT, unsaid).then(
    () => 'claimed',
    ({ code }: { code: string }) => code,
  )
  const late = new Promise((resolve) => setTimeout(resolve, 2_000, 'waits'))
  expect(await Promise.race([answered, late])).toBe('RETRY_IN_FLIGHT')
})

test.each([null, 5, 'retry'])('[R7] %j is no policy, beside one of the program as well', async (policy) => {
  const on = bench()
  const ibid = on.open({ policy: { window: '7d' } })
  expect((await failure(ibid.once(INTENT, () => 1, policy as never))).message).toContain('policy')
  expect(on.tap.count('claim')).toBe(0)
})
