/** What went wrong in other idempotency layers, told in our words: each a story that must end well here. */
import { expect, test } from 'vitest'
import { claimDraft } from '../../src/core/drafts.js'
import { readPolicy } from '../../src/core/policy.js'
import { NotExecuted } from '../../src/index.js'
import { deriveKey, fingerprint, intentKey, parseStrict } from '../../src/key/index.js'
import { bench, failure, INTENT, leaveBehind, manual, seen, turn, WHERE, within } from '../engine/bench.js'

const RETRY = { lease: '1s', recovery: 'retry' } as const

test('[R8] a zombie finished after it was taken over, and its result replaced the new one', async () => {
  const on = bench()
  const zombie = on.worker()
  const work = manual()
  const late = seen(zombie.ibid.once(INTENT, work.effect, RETRY))
  await turn()
  zombie.stop()
  await on.time.pass(1_000)
  const reader = on.open({ cache: false })
  await on.open().once(INTENT, () => 'B', RETRY)
  const seenValues = [(await reader.once(INTENT, () => 'no')).value]
  await work.succeed('A')
  seenValues.push((await reader.once(INTENT, () => 'no')).value)
  expect(seenValues).toEqual(['B', 'B'])
  expect(late.now).toMatchObject({ state: 'failed', error: { code: 'LEASE_LOST' } })
})

test('[R8] recovery of an orphaned record overwrote one that was alive again, or completed', async () => {
  const on = bench()
  const sleeper = on.worker()
  const work = manual()
  const first = seen(sleeper.ibid.once(INTENT, work.effect, { ...RETRY, timeout: '1h' }))
  await turn()
  // The owner is late with its renewal, and the recovery has already seen the lapsed lease.
  on.time.clock.advance(1_000)
  const door = on.tap.hold('swap')
  let runs = 0
  const rescuer = on.open({ timers: on.time.worker().timers })
  const rescue = seen(rescuer.once(INTENT, () => ++runs, { ...RETRY, wait: 0 }))
  await turn()
  expect(door.waiting).toBe(1)
  // Now the owner ends, and both changes reach the store, the owner's first.
  const { receipts } = await on.inner.get([WHERE])
  const mine = receipts[0] as NonNullable<(typeof receipts)[0]>
  const done = {
    ...mine,
    state: 'succeeded',
    outcome: '{"value":"A"}',
    forMs: 60_000,
    audit: { event: 'settled' },
  }
  await on.inner.swap([{ expect: { token: mine.token, state: 'pending' }, next: done as never }])
  door.let()
  await turn()
  expect(rescue.now).toMatchObject({ state: 'done', value: { value: 'A', replayed: true } })
  expect(runs).toBe(0)
  await work.succeed('A')
  expect(first.now.state).not.toBe('waiting')
})

test('[R3, R7] no deadline was known, every pending record looked orphaned, and both ran', async () => {
  const on = bench()
  // A caller that declares nothing still claims with a lease that ends.
  const work = manual()
  void on.open().once(INTENT, work.effect)
  await turn()
  const { receipts } = await on.store.get([WHERE])
  expect(receipts[0]).toMatchObject({ state: 'pending', leaseMs: 30_000 })
  expect(receipts[0]?.until).toBe(on.time.clock.now() + 30_000)
  const second = await failure(
    within(
      on,
      on.open().once(INTENT, () => 'no', { wait: 0 }),
    ),
  )
  expect(second.code).toBe('RETRY_IN_FLIGHT')
  expect(work.attempts).toHaveLength(1)
})

test('[R4] the payload check was skipped on the fast path', async () => {
  const on = bench()
  const ibid = on.open()
  await ibid.once(INTENT, () => 'first')
  for (const engine of [ibid, ibid, on.open(), on.open({ cache: false })]) {
    const error = await failure(
      engine.once({ ...INTENT, payload: { payment: 'pay_1', amount: 1_000 } }, () => 'no'),
    )
    expect(error.code).toBe('KEY_REUSED')
  }
})

test('[R2] find, then create: a race that every single-threaded test passes', async () => {
  const on = bench()
  let runs = 0
  const engines = Array.from({ length: 10 }, () => on.open())
  const calls = engines.map((ibid) => ibid.once(INTENT, () => ++runs))
  await on.time.pass(1_000)
  expect((await Promise.all(calls)).map(({ value }) => value)).toEqual(engines.map(() => 1))
  const verbs = on.tap.calls.map(({ verb }) => verb).filter((verb) => verb !== 'check')
  expect(verbs.slice(0, 10)).toEqual(engines.map(() => 'claim'))
})

test('[R8] the lock was deleted without asking whose it is', async () => {
  const on = bench()
  const sleeper = on.worker()
  const work = manual()
  const late = seen(sleeper.ibid.once(INTENT, work.effect, RETRY))
  await turn()
  sleeper.stop()
  await on.time.pass(1_000)
  const next = manual()
  const second = on.open().once(INTENT, next.effect, RETRY)
  await turn()
  // The first one gives back what it believes is its own.
  await work.fail(new NotExecuted('never mind'))
  expect(late.now).toMatchObject({ state: 'failed', error: { code: 'LEASE_LOST' } })
  const third = await failure(
    within(
      on,
      on.open().once(INTENT, () => 'no', { ...RETRY, wait: 0 }),
    ),
  )
  expect(third.code).toBe('RETRY_IN_FLIGHT')
  await next.succeed('second')
  expect((await second).value).toBe('second')
})

test('[R5, R7] an expired lease repeated a write that was committed', async () => {
  const on = bench()
  const ibid = on.open()
  let runs = 0
  await ibid.once(INTENT, () => ++runs, { ...RETRY, window: '24h' })
  await on.time.pass(3_600_000)
  await ibid.sweep()
  expect((await on.open().once(INTENT, () => ++runs, RETRY)).value).toBe(1)
  expect(runs).toBe(1)
})

test('[R7, R61] the answer to the write was lost, and the lease lapsed: it is not written again', async () => {
  const on = bench()
  const worker = on.worker()
  let runs = 0
  on.tap.failAfter('swap', 1)
  void worker.ibid.once(INTENT, () => ++runs, RETRY).catch(() => undefined)
  await turn()
  worker.stop()
  await on.time.pass(5_000)
  expect((await on.open().once(INTENT, () => ++runs, RETRY)).value).toBe(1)
})

test('[R8] a claim was written over one in flight', async () => {
  const on = bench()
  const terms = readPolicy({ lease: '1m' })
  const draft = (token: string): ReturnType<typeof claimDraft> => claimDraft(WHERE, 'f', terms, token)
  expect(await on.store.claim([draft('one')])).toMatchObject([{ won: true }])
  expect(await on.store.claim([draft('two'), draft('three')])).toMatchObject([
    { won: false, found: { token: 'one' } },
    { won: false, found: { token: 'one' } },
  ])
})

test('[R11, R14] the memory store made room by dropping records that were being processed', async () => {
  const on = bench()
  const ibid = on.open({ cache: { maxEntries: 2 } })
  const work = manual()
  const first = ibid.once(INTENT, work.effect, { lease: '24h', timeout: '48h' })
  await turn()
  for (let n = 0; n < 3_000; n++) await ibid.once({ ...INTENT, key: `k${n}` }, () => n, { window: '1s' })
  await on.time.pass(2_000)
  expect(await ibid.sweep()).toMatchObject({ purged: 3_000 })
  expect((await on.open().get(INTENT))?.state).toBe('pending')
  await work.succeed('kept')
  expect((await first).value).toBe('kept')
})

test('[R1] one tenant was given the answer of another', async () => {
  const on = bench()
  const ibid = on.open()
  await ibid.once(INTENT, () => 'of acme')
  const other = await ibid.once({ ...INTENT, tenant: 'globex' }, () => 'of globex')
  expect(other).toMatchObject({ value: 'of globex', replayed: false })
  const { tenant: _tenant, ...nobody } = INTENT
  expect((await failure(ibid.once(nobody, () => 'no'))).code).toBe('INVALID_INTENT')
  const layer = { layer: 'tool', tool: 'refund' }
  expect(deriveKey({ ...layer, tenant: 'acme' }, { a: 1 })).not.toBe(
    deriveKey({ ...layer, tenant: 'globex' }, { a: 1 }),
  )
})

test('[R3, R8] a blocked event loop sent no heartbeat: late, it asks, and a lease that is gone is gone', async () => {
  const on = bench()
  const work = manual()
  const blocked = seen(on.open().once(INTENT, work.effect, { ...RETRY, timeout: '1h' }))
  await turn()
  // Two seconds without a turn of the loop: not overtaken, so the first renewal saves it.
  await on.time.jump(2_000)
  expect(blocked.now.state).toBe('waiting')
  expect((await on.store.get([WHERE])).receipts[0]?.until).toBe(on.time.clock.now() + 1_000)
  // Two more, and this time somebody was faster.
  on.time.clock.advance(2_000)
  await on.open({ timers: on.time.worker().timers }).once(INTENT, () => 'faster', RETRY)
  await on.time.pass(0)
  expect(blocked.now).toMatchObject({ state: 'failed', error: { code: 'LEASE_LOST' } })
})

test('[R7] a thread of its own renewed for a process that hung: here a hung effect loses its key in time', async () => {
  const on = bench()
  const hung = seen(on.open().once(INTENT, () => new Promise<never>(() => {}), { ...RETRY, timeout: '3s' }))
  await on.time.pass(3_000)
  expect(hung.now).toMatchObject({ state: 'failed', error: { code: 'UPSTREAM_TIMEOUT' } })
  expect((await on.open().once(INTENT, () => 'next', RETRY)).value).toBe('next')
})

test('[R20] the retry of a refund minted a new key: here the key comes from the step, and is handed down', async () => {
  const on = bench()
  const keys: string[] = []
  const key = intentKey`${'order_7'}:${'refund'}`
  const refund = ({ key: downstream }: { key: string }): Promise<never> => {
    keys.push(downstream)
    return Promise.reject(new TypeError('timeout'))
  }
  for (let i = 0; i < 3; i++) await failure(on.open().once({ ...INTENT, key }, refund, RETRY))
  expect(keys).toEqual([key, key, key])
})

test('[R9] a refusal after the reservation left the key pointing at work that never existed', async () => {
  const on = bench()
  const ibid = on.open()
  await failure(
    ibid.once(INTENT, () => Promise.reject(new NotExecuted('429, too many runs', { retryAfterMs: 50 }))),
  )
  expect(await ibid.once(INTENT, () => 'admitted')).toMatchObject({ value: 'admitted', replayed: false })
})

test('[R12] the store failed, and the request hung for ever', async () => {
  const on = bench()
  const ibid = on.open()
  await ibid.check()
  on.tap.outage()
  const call = seen(ibid.once(INTENT, () => 'no', { wait: '10s' }))
  await on.time.pass(1_000)
  expect(call.now).toMatchObject({ state: 'failed', error: { code: 'STORE_UNAVAILABLE', retriable: true } })
})

test('[R6] one look of 200 ms is not waiting, and neither is a sleep of five seconds', async () => {
  const on = bench({ watch: undefined as never })
  const work = manual()
  void on.open().once(INTENT, work.effect, { lease: '60s' })
  await turn()
  const waiter = seen(on.open().once(INTENT, work.effect, { wait: '20s' }))
  await on.time.pass(6_000)
  await work.succeed('soon')
  await on.time.pass(400)
  expect(waiter.now).toMatchObject({ state: 'done', value: { value: 'soon' } })
})

test('[R3, R11] seconds and milliseconds were mixed, and a deadline of zero was read as none', async () => {
  const on = bench()
  const ibid = on.open()
  const { receipt } = await ibid.once(INTENT, () => 1, { window: '2s', lease: '3s' })
  expect([receipt.leaseMs, receipt.windowMs, (receipt.until as number) - receipt.at]).toEqual([
    3_000, 2_000, 2_000,
  ])
  for (const policy of [{ lease: 0 }, { window: 0 }, { timeout: 0 }]) {
    expect((await failure(ibid.once(INTENT, () => 1, policy))).code).toBe('INVALID_INTENT')
  }
  await leaveBehind(on, { lease: '1m' }, { ...INTENT, key: 'busy' })
  const now = await failure(
    within(
      on,
      ibid.once({ ...INTENT, key: 'busy' }, () => 1, { wait: 0 }),
      0,
    ),
  )
  expect(now.code).toBe('RETRY_IN_FLIGHT')
})

test('[R22] different payloads shared a fingerprint', () => {
  const prints = [
    fingerprint({ a: null }),
    fingerprint({}),
    fingerprint({ a: 'null' }),
    fingerprint(['ab', 'c']),
  ]
  expect(new Set([...prints, fingerprint(['a', 'bc'])]).size).toBe(5)
  for (const text of ['9007199254740993', '1e400', '{"a":1,"a":2}']) {
    expect(() => parseStrict(text)).toThrow(expect.objectContaining({ code: 'INVALID_INTENT' }))
  }
  expect(intentKey`${'ab'}:${'c'}`).not.toBe(intentKey`${'a'}:${'bc'}`)
  expect(intentKey`${'a:b'}:${'c'}`).not.toBe(intentKey`${'a'}:${'b:c'}`)
})
