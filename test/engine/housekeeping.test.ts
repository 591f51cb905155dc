/** No state without a way out: sweeping, forgetting, and what never is forgotten. */
import { expect, test } from 'vitest'
import { ownerDraft } from '../../src/core/drafts.js'
import type { Receipt } from '../../src/core/receipt.js'
import { createIbid, OutcomeUnknown } from '../../src/index.js'
import { bench, failure, INTENT, leaveBehind, turn, WHERE } from './bench.js'

test('[R14] stuck pending receipts are swept to where a person finds them', async () => {
  const on = bench()
  await leaveBehind(on, { lease: '1s' })
  const ibid = on.open()
  expect(await ibid.sweep()).toMatchObject({ held: 0 })
  await on.time.pass(1_000)
  expect(await ibid.sweep()).toMatchObject({ held: 1, released: 0, purged: 0 })
  expect((await ibid.list({ state: 'unknown' })).receipts.map(({ key }) => key)).toEqual([WHERE.key])
  expect(await ibid.sweep()).toMatchObject({ held: 0 })
  const swept = (await ibid.history(WHERE)).at(-1)
  expect(swept).toMatchObject({ event: 'swept', by: 'sweep', state: 'unknown' })
})

test('[R7, R14] sweep leaves a lapsed receipt to its policy for a window, and then to a person', async () => {
  const on = bench()
  await leaveBehind(on, { lease: '1s', recovery: 'retry', window: '1h' })
  const ibid = on.open()
  await on.time.pass(3_600_000)
  expect(await ibid.sweep()).toMatchObject({ held: 0 })
  await on.time.pass(1_000)
  expect(await ibid.sweep()).toMatchObject({ held: 1 })
  expect((await failure(ibid.once(INTENT, () => 'no', { recovery: 'retry' }))).code).toBe('OUTCOME_UNKNOWN')
})

test('[R10, R14] sweep gives back what a transaction left behind: it certainly did nothing', async () => {
  const on = bench()
  const { ibid: victim, stop } = on.worker()
  void victim.transact(INTENT, () => new Promise(() => {}), { lease: '1s' }).catch(() => undefined)
  await turn()
  stop()
  await on.time.pass(1_000)
  expect(await on.open().sweep()).toMatchObject({ held: 0, released: 1 })
  expect((await on.open().get(WHERE))?.state).toBe('released')
})

test('[R12, R52] a store that refuses to hold what has lapsed forgets what is over all the same', async () => {
  const on = bench()
  await on.open().once({ ...INTENT, key: 'over' }, () => 1, { window: '1s' })
  await leaveBehind(on, { lease: '1s' })
  await on.time.pass(1_000)
  const full = createIbid({
    store: { ...on.inner, swap: () => Promise.reject(new Error('no memory left')) },
    tenant: 'acme',
    housekeeping: false,
  })
  expect((await failure(full.sweep())).code).toBe('STORE_UNAVAILABLE')
  expect(await on.open().sweep()).toMatchObject({ held: 1, purged: 0 })
})

test('[R8] sweep and a renewal in the same moment: a lease that was renewed is not swept', async () => {
  const on = bench()
  const sleeper = on.worker()
  void sleeper.ibid
    .once(INTENT, () => new Promise(() => {}), { lease: '3s', timeout: '1h' })
    .catch(() => undefined)
  await turn()
  const ibid = on.open()
  await ibid.check()
  on.time.clock.advance(3_000)
  const door = on.tap.hold('swap')
  const sweeping = ibid.sweep()
  await turn()
  expect(door.waiting).toBe(1)
  // The sleeper wakes, and its renewal overtakes the sweep.
  const mine = (await on.inner.get([WHERE])).receipts[0] as Receipt
  const expected = { token: mine.token, state: mine.state }
  await on.inner.swap([{ expect: expected, next: ownerDraft(mine, 'renew', null) }])
  door.let()
  expect(await sweeping).toMatchObject({ held: 0 })
  expect((await on.open().get(WHERE))?.state).toBe('pending')
})

test('[R11] after its window a receipt is forgotten, and a late duplicate is new, whatever it carries', async () => {
  const on = bench()
  const ibid = on.open()
  const first = await ibid.once(INTENT, () => 'first', { window: '1h' })
  await on.time.pass(3_600_000)
  expect(await ibid.get(WHERE)).toBeUndefined()
  expect((await ibid.list()).receipts).toEqual([])
  const second = await ibid.once({ ...INTENT, payload: 'another' }, () => 'second', { window: '1h' })
  expect(second).toMatchObject({ value: 'second', replayed: false, receipt: { attempt: 1 } })
  expect(second.receipt.epoch).toBeGreaterThan(first.receipt.epoch)
  expect(second.receipt.createdAt).toBeGreaterThan(first.receipt.createdAt)
})

test('[R11, R52] forgetting is done in batches until nothing is left, with an event for each', async () => {
  const on = bench()
  const ibid = on.open()
  const keys = Array.from({ length: 450 }, (_, n) => `k${n}`)
  await Promise.all(keys.map((key) => ibid.once({ ...WHERE, key }, () => 1, { window: '1s' })))
  await on.time.pass(1_000)
  expect(await ibid.sweep()).toMatchObject({ purged: 450 })
  expect(on.tap.calls.filter(({ verb }) => verb === 'purge').map(({ argument }) => argument)).toEqual([
    200, 200, 200,
  ])
  const history = await ibid.history({ ...WHERE, key: 'k7' })
  expect(history.map(({ event }) => event)).toEqual(['claimed', 'settled', 'expired'])
})

test('[R11] an unknown outcome is never forgotten by itself', async () => {
  const on = bench()
  const ibid = on.open()
  await failure(ibid.once(INTENT, () => Promise.reject(new OutcomeUnknown('no')), { window: '1s' }))
  expect((await ibid.get(WHERE))?.until).toBeNull()
  await on.time.pass(10 * 365 * 86_400_000)
  expect(await ibid.sweep()).toMatchObject({ purged: 0 })
  expect((await failure(ibid.once(INTENT, () => 'no'))).code).toBe('OUTCOME_UNKNOWN')
})

test('[R11] the audit log is kept for its own window', async () => {
  const on = bench()
  const ibid = on.open({ auditWindow: '1h' })
  await ibid.once(INTENT, () => 1, { window: '7d' })
  await on.time.pass(3_600_001)
  expect(await ibid.sweep()).toMatchObject({ purged: 0, events: 2 })
  expect(await ibid.history(WHERE)).toEqual([])
})

test('[R8] the epoch of a key never goes backwards: releases, takeovers, expiry, a clock set back', async () => {
  const on = bench()
  const ibid = on.open({ cache: false })
  const epochs: number[] = []
  const policy = { window: '1s', lease: '1s', recovery: 'retry', maxAttempts: 9 } as const
  for (let i = 0; i < 5; i++) {
    await ibid.once(INTENT, ({ epoch }) => epochs.push(epoch), policy)
    await on.time.pass(1_000)
    if (i % 2 === 0) await ibid.sweep()
    on.time.clock.advance(i === 3 ? -500 : 0)
    await on.time.pass(i === 3 ? 1_000 : 0)
    await leaveBehind(on, policy)
    epochs.push((await ibid.get(WHERE))?.epoch as number)
    await on.time.pass(1_000)
    await ibid.once(INTENT, ({ epoch }) => epochs.push(epoch), policy)
    await on.time.pass(1_000)
  }
  expect(epochs).toHaveLength(15)
  expect(epochs).toEqual(epochs.toSorted((a, b) => a - b))
  expect(new Set(epochs).size).toBe(epochs.length)
})

test('[R12] a store that is away while it is swept: a structured error', async () => {
  const on = bench()
  const ibid = on.open()
  await ibid.check()
  await ibid.sweep()
  on.tap.failBefore('scan')
  expect((await failure(ibid.sweep())).code).toBe('STORE_UNAVAILABLE')
})

test('[R52] in the background, claims have three quarters of the time to themselves', async () => {
  const on = bench()
  const { store } = on
  const startedMs: number[] = []
  const purge = store.purge.bind(store)
  let left = 3
  store.purge = async (limit, auditMs) => {
    startedMs.push(on.time.timers.elapsedMs())
    await new Promise<void>((resolve) => on.time.timers.after(40, resolve))
    return left-- > 0 ? { receipts: limit, events: 0 } : purge(limit, auditMs)
  }
  on.open({ housekeeping: { every: '1s' } })
  await on.time.pass(2_000)
  const gaps = startedMs.slice(1, 4).map((ms, i) => ms - (startedMs[i] as number))
  expect(gaps).toEqual([160, 160, 160])
})
