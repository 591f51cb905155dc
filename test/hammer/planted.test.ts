/**
 * A control for every property: a guard that is right holds it, and a guard with one planted fault is caught by
 * it.
 */
import { expect, test } from 'vitest'
import { PROPERTIES } from '../../src/testing/black-box/properties.js'
import { checkIdempotency, type CheckOptions, httpTarget, type Target } from '../../src/testing/index.js'
import { type Fault, plant } from './planted.js'
import { REFUND } from './site.js'

const PAYLOADS: CheckOptions = {
  payload: REFUND.plain,
  failingPayload: REFUND.failing,
  slowPayload: REFUND.slow,
  settleMs: 20,
  patienceMs: 2_000,
}

async function check(
  fault: Fault | undefined,
  options: CheckOptions,
): Promise<Readonly<Record<string, string>>> {
  const { url, effects, restart } = await plant(fault)
  const headers = { 'x-tenant': 'acme' }
  const otherHeaders = { 'x-tenant': 'umbrella' }
  const target = httpTarget({ url, headers, otherHeaders, restart, answerMs: 5_000 })
  const { verdicts } = await checkIdempotency(target, { ...PAYLOADS, probe: effects, ...options })
  return Object.fromEntries(
    verdicts.map((each) => [
      each.property,
      each.verdict === 'violated' ? each.saw : each.verdict === 'held' ? 'held' : each.why,
    ]),
  )
}

test('[R62] a guard that is right holds every property', async () => {
  expect(await check(undefined, {})).toEqual(Object.fromEntries(PROPERTIES.map(({ id }) => [id, 'held'])))
})

const FAULTS: readonly (readonly [property: string, fault: Fault, saw: RegExp])[] = [
  ['same-key-twice', 'has no guard', /^2 effects for 1 key/],
  ['many-at-once', 'finds, then creates', /^\d+ effects for 1 key/],
  ['other-payload-after', 'replays to any payload', /the other payload got 201, the result of the first/],
  ['other-payload-during', 'checks the payload only when it is done', /both payloads were accepted/],
  ['key-missing', 'runs without a key', /^2 effects for the same call twice without a key/],
  ['key-missing', 'has one record for all without a key', /it was taken for the first/],
  [
    'key-missing',
    'has one record for all without a key, and compares',
    /without a key got 422.*taken for the first/,
  ],
  ['long-key', 'never ends with a long key', /a key of 256 characters was told to come back \(409\)/],
  ['long-key', 'refuses a long key that it knows', /of 256 characters was accepted, and its retry got 400/],
  ['long-key', 'cuts keys at 255', /two keys of 256 characters were taken for one/],
  ['long-key', 'breaks on long keys', /a key of 2000 characters got 500/],
  ['odd-key', 'ignores case', /two keys that differ by case were taken for one/],
  ['odd-key', 'ignores keys with spaces', /2 effects for 1 key with spaces: it was ignored/],
  ['cut-off', 'forgets when the caller is gone', /^2 effects for 1 key/],
  ['retry-after-failure', 'forgets failures', /^2 effects for 1 key/],
  ['retry-after-failure', 'never ends after a failure', /still told to come back \(409\) after 2 s/],
  ['replay-fidelity', 'replays with another status', /^201 became 200$/],
  ['replay-fidelity', 'replays parsed and written anew', /^the body became \{"refund":\d+\}$/],
  ['replay-fidelity', 'replays without a content type', /^content type application\/json became none$/],
  ['claimed-replay', 'believes a client that claims a replay', /^0 effects for 1 key/],
  ['other-caller', 'has one key for all callers', /another caller got the first caller’s answer/],
  ['restart-between', 'keeps results in memory', /^2 effects for 1 key/],
  ['restart-in-the-middle', 'runs again after a crash', /it was done again after the restart/],
  ['restart-in-the-middle', 'never recovers a crash', /still told to come back \(409\) after 2 s/],
]

test.each(FAULTS)('[R62] %s catches this: it %s', async (property, fault, saw) => {
  expect((await check(fault, { only: [property] }))[property]).toMatch(saw)
})

test('[R62] every property has a planted fault', () => {
  expect([...new Set(FAULTS.map(([property]) => property))].toSorted()).toEqual(
    PROPERTIES.map(({ id }) => id).toSorted(),
  )
})

test('a payload that is refused anyway shows nothing of keys', async () => {
  const only = ['other-payload-after', 'other-payload-during']
  const why = 'the other payload got 400 under a key of its own too: give --other-body, one that is accepted'
  expect(await check('limits amounts, and replays to any payload', { only })).toEqual({
    'other-payload-after': why,
    'other-payload-during': why,
  })
})

test('a violation comes with the calls that show it', async () => {
  const { url, effects } = await plant('has no guard')
  const { verdicts } = await checkIdempotency(httpTarget({ url }), {
    ...PAYLOADS,
    probe: effects,
    only: ['same-key-twice'],
    keyPrefix: 'k',
  })
  expect(verdicts[0]?.sequence).toEqual([
    'key "k-2" → 201 {"refund": 2}',
    'key "k-2" → 201 {"refund": 3}',
    'effects: 2',
  ])
})

test('without a probe nothing is said to hold that only effects can show', async () => {
  const { url } = await plant(undefined)
  const { verdicts, ok } = await checkIdempotency(httpTarget({ url, headers: { 'x-tenant': 'acme' } }), {
    ...PAYLOADS,
    patienceMs: 500,
  })
  const held = verdicts.filter(({ verdict }) => verdict === 'held').map(({ property }) => property)
  expect({ held, ok }).toEqual({ held: ['replay-fidelity'], ok: true })
})

/** A target that does its effect and answers in the same breath; `isGuarded`: once for each key. */
function inOneBreath(isGuarded: boolean) {
  const seen = new Set<unknown>()
  let effects = 0
  const target: Target = {
    name: 'f',
    payloadName: 'payload',
    canCarry: () => true,
    roles: [],
    async call({ key }) {
      if (!isGuarded || !seen.has(key)) effects++
      seen.add(key)
      return { kind: 'done', said: 'returns', body: 'ok', facts: {} }
    },
    async close() {},
  }
  return { target, probe: () => effects }
}

test('what was not cut off, and what was no replay, is not said to hold', async () => {
  const only = ['cut-off', 'replay-fidelity']
  const guarded = inOneBreath(true)
  const one = await checkIdempotency(guarded.target, { payload: 1, probe: guarded.probe, settleMs: 1, only })
  expect(one.verdicts).toMatchObject([
    { verdict: 'not tested', why: expect.stringContaining('before its caller can be cut off') as string },
    { verdict: 'held' },
  ])
  const { target, probe } = inOneBreath(false)
  const other = await checkIdempotency(target, { payload: 1, probe, settleMs: 1, only: ['replay-fidelity'] })
  expect(other.verdicts).toMatchObject([
    { verdict: 'not tested', why: 'there was no replay: 2 effects for 1 key' },
  ])
})

test('a probe that does not count the call is refused, and so is a call that does not work', async () => {
  const { url } = await plant(undefined)
  const target = httpTarget({ url, headers: { 'x-tenant': 'acme' } })
  await expect(checkIdempotency(target, { ...PAYLOADS, probe: () => 7 })).rejects.toMatchObject({
    code: 'CONTROL_FAILED',
    message: expect.stringContaining('raised the probe by 0') as string,
  })
  await expect(checkIdempotency(target, { payload: REFUND.failing })).rejects.toMatchObject({
    code: 'CONTROL_FAILED',
    message: expect.stringContaining('got 502') as string,
  })
})
