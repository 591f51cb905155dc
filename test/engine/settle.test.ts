/** Writing down how an attempt ended, over stores that lose answers or go away. */
import { expect, test } from 'vitest'
import { NotExecuted, Rejected } from '../../src/index.js'
import { bench, INTENT, manual, seen, turn, WHERE } from './bench.js'

test('[R5, R61] a settling whose answer was lost is looked into, not done twice and not reported as lost', async () => {
  const on = bench()
  const ibid = on.open()
  on.tap.failAfter('swap')
  const first = seen(ibid.once(INTENT, () => 'once'))
  await on.time.pass(25)
  expect(first.now).toMatchObject({ state: 'done', value: { value: 'once', replayed: false } })
  const events = (await on.store.audit({ ...WHERE, limit: 10 })).events.map(({ event }) => event)
  expect(events).toEqual(['claimed', 'settled'])
})

test('[R12, R61] an outage after the effect: it is settled when the store is back', async () => {
  const on = bench()
  const ibid = on.open()
  const work = manual()
  const first = seen(ibid.once(INTENT, work.effect, { lease: '30s' }))
  await turn()
  const outage = on.tap.outage()
  await work.succeed('kept')
  await on.time.pass(20_000)
  expect(first.now.state).toBe('waiting')
  outage.back()
  await on.time.pass(1_000)
  expect(first.now).toMatchObject({ state: 'done', value: { value: 'kept' } })
  expect(await ibid.get(INTENT)).toMatchObject({ state: 'succeeded', value: 'kept' })
})

test('[R12, R61] an outage for good: the error says that the effect ran, and the policy decides later', async () => {
  const on = bench()
  const ibid = on.open()
  const work = manual()
  const first = seen(ibid.once(INTENT, work.effect, { lease: '30s' }))
  await turn()
  const outage = on.tap.outage()
  await work.succeed('gone')
  await on.time.pass(31_000)
  expect(first.now).toMatchObject({ state: 'failed', error: { code: 'STORE_UNAVAILABLE', retriable: true } })
  expect((first.now as { error: Error }).error.message).toMatch(
    /the effect ran, but that could not be recorded/,
  )
  outage.back()
  const again = seen(on.open().once(INTENT, () => 'twice'))
  await on.time.pass(0)
  expect(again.now).toMatchObject({ state: 'failed', error: { code: 'OUTCOME_UNKNOWN' } })
  expect(work.attempts).toHaveLength(1)
})

test.each([
  ['a refusal', new Rejected('no'), /the effect was refused, but that could not be recorded/],
  ['nothing done', new NotExecuted('no'), /nothing happened, but the key could not be given back/],
  ['a failure', new TypeError('boom'), /it is not known whether the effect happened/],
])('[R12] an outage for good after %s says so', async (_name, error, message) => {
  const on = bench()
  const work = manual()
  const first = seen(on.open().once(INTENT, work.effect, { lease: '1s' }))
  await turn()
  on.tap.outage()
  await work.fail(error)
  await on.time.pass(10_000)
  expect(first.now).toMatchObject({ state: 'failed', error: { code: 'STORE_UNAVAILABLE' } })
  expect((first.now as { error: Error }).error.message).toMatch(message)
})

test('[R8] a settling that comes too late is refused, and is on record as stale', async () => {
  const on = bench()
  const sleeper = on.worker()
  const work = manual()
  const first = seen(sleeper.ibid.once(INTENT, work.effect, { lease: '1s', recovery: 'retry' }))
  await turn()
  sleeper.stop()
  await on.time.pass(1_000)
  await on.open().once(INTENT, () => 'second', { recovery: 'retry' })
  await work.succeed('first')
  expect(first.now).toMatchObject({ state: 'failed', error: { code: 'LEASE_LOST', retriable: true } })
  const history = await sleeper.ibid.history(INTENT)
  expect(history.map(({ event }) => event)).toEqual(['claimed', 'takeover', 'settled', 'stale'])
})

test('[R8] a lost answer of the settling, then a takeover of nothing: the first value stays', async () => {
  const on = bench()
  const ibid = on.open()
  on.tap.failAfter('swap')
  const first = seen(ibid.once(INTENT, () => 'first', { lease: '10ms', recovery: 'retry' }))
  await on.time.pass(1)
  on.time.clock.advance(60)
  const second = await on.open().once(INTENT, () => 'second', { recovery: 'retry' })
  await on.time.pass(100)
  expect(second.value).toBe('first')
  expect(first.now).toMatchObject({ state: 'done', value: { value: 'first' } })
})

test('[R8] a zombie whose value happens to be the same has lost its lease all the same', async () => {
  const on = bench()
  const sleeper = on.worker()
  const work = manual()
  const late = seen(sleeper.ibid.once(INTENT, work.effect, { lease: '1s', recovery: 'retry' }))
  await turn()
  sleeper.stop()
  await on.time.pass(1_000)
  await on.open().once(INTENT, () => 'same', { recovery: 'retry' })
  await work.succeed('same')
  expect(late.now).toMatchObject({ state: 'failed', error: { code: 'LEASE_LOST' } })
})

test('[R8, R14] what a person resolved stays, also for the worker who comes back with something else', async () => {
  const on = bench()
  const sleeper = on.worker()
  const work = manual()
  const late = seen(sleeper.ibid.once(INTENT, work.effect, { lease: '1s' }))
  await turn()
  sleeper.stop()
  await on.time.pass(1_000)
  const ibid = on.open()
  await ibid.resolve(INTENT, { as: 'succeeded', value: 'said by ada' }, { by: 'ada', why: 'seen' })
  await work.succeed('from the grave')
  expect(late.now).toMatchObject({ state: 'failed', error: { code: 'LEASE_LOST' } })
  expect((await sleeper.ibid.once(INTENT, () => 'no')).value).toBe('said by ada')
})
