/** From the first call to the last: the store is asked whether it is safe, and close leaves nothing half done. */
import { expect, test } from 'vitest'
import { createIbid } from '../../src/index.js'
import type { StoreReport } from '../../src/store.js'
import { bench, failure, INTENT, leaveBehind, manual, seen, turn } from './bench.js'

function reporting(level: 'error' | 'warning'): () => Promise<StoreReport> {
  const finding = { level, code: 'NO_FSYNC', message: 'fsync is off', remedy: 'turn fsync on' } as const
  return () => Promise.resolve({ store: 'test', findings: [finding], facts: {} })
}

test('[R55] a store that is set up unsafely is refused, with what is wrong and how to mend it', async () => {
  const on = bench()
  const ibid = on.open({ store: { ...on.store, check: reporting('error') } })
  let runs = 0
  for (const call of [
    () => ibid.once(INTENT, () => ++runs),
    () => ibid.transact(INTENT, () => ++runs),
    () => ibid.sweep(),
    () => ibid.resolve(INTENT, { as: 'released' }, { by: 'ada', why: 'seen' }),
  ]) {
    const error = await failure(call())
    expect(error).toMatchObject({ code: 'UNSAFE_STORE', retriable: false })
    expect(error.message).toMatch(/fsync is off \(turn fsync on\)/)
  }
  expect(runs).toBe(0)
  expect(on.tap.count('claim')).toBe(0)
  expect((await ibid.check()).findings).toHaveLength(1)
})

test('[R55] a warning does not stop the work', async () => {
  const on = bench()
  const ibid = on.open({ store: { ...on.store, check: reporting('warning') } })
  expect((await ibid.once(INTENT, () => 'works')).value).toBe('works')
})

test('[R12, R55] a store that cannot be asked yet is asked again by the next call; nothing runs before', async () => {
  const on = bench()
  const ibid = on.open()
  on.tap.failBefore('check')
  const [one, two] = await Promise.all([
    failure(ibid.once(INTENT, () => 'no')),
    failure(ibid.once({ ...INTENT, key: 'two' }, () => 'no')),
  ])
  expect([one.code, two.code]).toEqual(['STORE_UNAVAILABLE', 'STORE_UNAVAILABLE'])
  expect(on.tap.count('claim')).toBe(0)
  expect((await ibid.once(INTENT, () => 'now')).value).toBe('now')
  await ibid.once({ ...INTENT, key: 'two' }, () => 'now')
  expect(on.tap.count('check')).toBe(2)
})

test('close waits for what is running, and refuses what comes after', async () => {
  const on = bench()
  const ibid = on.open()
  const work = manual()
  const first = ibid.once(INTENT, work.effect)
  await turn()
  const joined = ibid.once(INTENT, work.effect)
  await turn()
  const closing = seen(ibid.close())
  await turn()
  expect(closing.now.state).toBe('waiting')
  const late = await failure(ibid.once({ ...INTENT, key: 'late' }, () => 'no'))
  expect(late).toMatchObject({ code: 'CLOSED', retriable: false })
  await work.succeed('kept')
  expect((await first).value).toBe('kept')
  expect((await joined).value).toBe('kept')
  expect(closing.now.state).toBe('done')
  for (const call of [ibid.get(INTENT), ibid.list(), ibid.sweep(), ibid.once(INTENT, () => 'no')]) {
    expect((await failure(call)).code).toBe('CLOSED')
  }
  await ibid.close()
})

test('[R12] close while a claim is on its way: its effect is run and recorded before the store closes', async () => {
  const on = bench()
  const ibid = on.open()
  await ibid.once({ ...INTENT, key: 'warm' }, () => 0)
  const door = on.tap.hold('claim')
  const first = ibid.once(INTENT, () => 'recorded')
  await turn()
  const closing = seen(ibid.close())
  await turn()
  expect(closing.now.state).toBe('waiting')
  door.let()
  expect(await first).toMatchObject({ value: 'recorded', receipt: { state: 'succeeded' } })
  await turn()
  expect(closing.now.state).toBe('done')
})

test('[R12] close while a duplicate waits: it is told, and runs nothing on a store that is being closed', async () => {
  const on = bench()
  const ibid = on.open()
  // Something for the audit log, so that closing takes a while.
  await ibid.once({ ...INTENT, key: 'warm' }, () => 0)
  await ibid.once({ ...INTENT, key: 'warm' }, () => 0)
  await leaveBehind(on, { lease: '10s', recovery: 'retry' })
  let runs = 0
  const waiter = seen(ibid.once(INTENT, () => ++runs, { wait: '1h', recovery: 'retry' }))
  await turn()
  on.time.clock.advance(10_000)
  await ibid.close()
  await on.time.pass(1_000)
  expect(waiter.now).toMatchObject({ state: 'failed', error: { code: 'CLOSED' } })
  expect(runs).toBe(0)
})

test('[R12] close while a duplicate is about to wait: it is told at once, not when its patience ends', async () => {
  const on = bench()
  const ibid = on.open()
  await leaveBehind(on, { lease: '10s' })
  await ibid.once({ ...INTENT, key: 'warm' }, () => 0)
  const door = on.tap.hold('claim')
  const late = seen(ibid.once(INTENT, () => 'no', { wait: '1h' }))
  await turn()
  const closing = seen(ibid.close())
  await turn()
  door.let()
  await turn()
  expect(late.now).toMatchObject({ state: 'failed', error: { code: 'CLOSED' } })
  await turn()
  expect(closing.now.state).toBe('done')
})

test('[R12] close while a resolution is on its way: it is made and told before the store closes', async () => {
  const on = bench()
  const ibid = on.open()
  await failure(ibid.once(INTENT, () => Promise.reject(new Error('lost its way'))))
  const door = on.tap.hold('swap')
  const resolved = ibid.resolve(INTENT, { as: 'released' }, { by: 'ada', why: 'looked it up' })
  await turn()
  const closing = seen(ibid.close())
  await turn()
  expect(closing.now.state).toBe('waiting')
  door.let()
  expect((await resolved).state).toBe('released')
  await turn()
  expect(closing.now.state).toBe('done')
})

test('[R12] close while a sweep is on its way: it ends with the page that it has begun', async () => {
  const on = bench()
  const ibid = on.open()
  await leaveBehind(on, { lease: '10s', recovery: 'hold' })
  on.time.clock.advance(10_000)
  const door = on.tap.hold('swap')
  const swept = ibid.sweep()
  await turn()
  const closing = seen(ibid.close())
  await turn()
  expect(closing.now.state).toBe('waiting')
  door.let()
  expect(await swept).toMatchObject({ held: 1 })
  await turn()
  expect(closing.now.state).toBe('done')
})

test('after close no timer is left', async () => {
  const on = bench()
  const ibid = on.open({ housekeeping: { every: '1s' } })
  await ibid.once(INTENT, () => 1)
  await ibid.once(INTENT, () => 1)
  expect(on.time.armed).toBeGreaterThan(0)
  await ibid.close()
  expect(on.time.armed).toBe(0)
})

test('[R52] the house is kept in the background, and goes on after an outage', async () => {
  const on = bench()
  const ibid = on.open({ housekeeping: { every: '10s' } })
  await ibid.once(INTENT, () => 1, { window: '5s' })
  const outage = on.tap.outage()
  await on.time.pass(30_000)
  outage.back()
  await on.time.pass(15_000)
  expect((await on.store.get([INTENT])).receipts).toEqual([undefined])
})

test('createIbid without a store says what to give it', () => {
  for (const options of [undefined, {}, { store: {} }]) {
    expect(() => createIbid(options as never)).toThrow(/createIbid got no store/)
  }
})

test('createIbid refuses an option that there is not: a misspelt policy would be the default', () => {
  const { store } = bench()
  expect(() => createIbid({ store, polcy: { recovery: 'retry' } } as never)).toThrow(
    'polcy is not an option of createIbid',
  )
})
