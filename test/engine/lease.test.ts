/** The lease of a running attempt: renewed by thirds, not for ever, and lost for good when it is lost. */
import { expect, test } from 'vitest'
import { createIbid } from '../../src/index.js'
import { memoryStore } from '../../src/stores/memory/index.js'
import { bench, failure, INTENT, leaveBehind, manual, seen, turn, WHERE, within } from './bench.js'

/** Nothing else happens in this process for so long. */
function block(ms: number): void {
  const end = performance.now() + ms
  while (performance.now() < end);
}

/** A verb of a store whose answer is on its way for so long. */
function slowly<In, Out>(
  on: ReturnType<typeof bench>,
  ms: number,
  verb: (batch: In) => Promise<Out>,
): (batch: In) => Promise<Out> {
  return async (batch) => {
    const answer = await verb(batch)
    on.time.clock.advance(ms)
    return answer
  }
}

test('[R3] a lease is renewed each third of its length, so that a long effect keeps its key', async () => {
  const on = bench()
  const ibid = on.open()
  const work = manual()
  const first = ibid.once(INTENT, work.effect, { lease: '3s', timeout: '1h' })
  await turn()
  for (let i = 1; i <= 10; i++) {
    await on.time.pass(1_000)
    expect(on.tap.count('swap'), `after ${i} s`).toBe(i)
    const { receipts } = await on.store.get([WHERE])
    expect(receipts[0]?.until).toBe(on.time.clock.now() + 3_000)
  }
  const other = on.open()
  const late = await failure(
    within(
      on,
      other.once(INTENT, () => 'no', { wait: 0 }),
    ),
  )
  expect(late.code).toBe('RETRY_IN_FLIGHT')
  await work.succeed('long')
  expect((await first).value).toBe('long')
  await on.time.pass(10_000)
  expect(on.tap.count('swap')).toBe(11)
})

test('[R3] a short lease is renewed in its own time, and makes no long one be renewed with it', async () => {
  const on = bench()
  const ibid = on.open()
  const [long, short] = [manual(), manual()]
  const both = [
    ibid.once(INTENT, long.effect, { lease: '30s', timeout: '1h' }),
    ibid.once({ ...INTENT, key: 'short' }, short.effect, { lease: '300ms', timeout: '1h' }),
  ]
  await turn()
  await on.time.pass(9_950)
  expect(on.tap.batches('swap')).toEqual(Array(99).fill(1))
  await long.succeed('long')
  await short.succeed('short')
  await Promise.all(both)
})

test('one renewal that fails does no harm', async () => {
  const on = bench()
  const work = manual()
  const first = on.open().once(INTENT, work.effect, { lease: '3s' })
  await turn()
  on.tap.failBefore('swap')
  await on.time.pass(2_500)
  expect(work.attempts[0]?.signal.aborted).toBe(false)
  await work.succeed('fine')
  expect((await first).value).toBe('fine')
})

test('while a renewal is on its way the keeper waits for it, and sets no timer after timer', async () => {
  const on = bench()
  const work = manual()
  const first = on.open().once(INTENT, work.effect, { lease: '3s', timeout: '1h' })
  await turn()
  const door = on.tap.hold('swap')
  const set = on.time.set
  await on.time.pass(60_000)
  expect(on.time.set - set).toBeLessThan(100)
  expect(door.waiting).toBe(1)
  const swaps = on.tap.count('swap')
  door.let()
  await turn()
  expect(on.tap.count('swap')).toBe(swaps)
  await work.succeed('late')
  expect((await first).value).toBe('late')
})

test('[R7] a hung effect is not renewed for ever: its time is up, and the policy decides', async () => {
  const on = bench()
  const ibid = on.open()
  const work = manual()
  const first = seen(ibid.once(INTENT, work.effect, { lease: '3s', timeout: '10s' }))
  await on.time.pass(9_999)
  expect(first.now.state).toBe('waiting')
  await on.time.pass(1)
  expect(first.now).toMatchObject({ state: 'failed', error: { code: 'OUTCOME_UNKNOWN', retriable: false } })
  expect(work.attempts[0]?.signal.aborted).toBe(true)
  const swaps = on.tap.count('swap')
  await on.time.pass(60_000)
  expect(on.tap.count('swap')).toBe(swaps)
  // The effect ends after all: nobody asks any more.
  await work.succeed('too late')
  expect((await ibid.get(INTENT))?.state).toBe('unknown')
})

test('[R7] the time of an effect without a timeout of its own is ten leases', async () => {
  const on = bench()
  const first = seen(on.open().once(INTENT, manual().effect, { lease: '1s' }))
  await on.time.pass(9_999)
  expect(first.now.state).toBe('waiting')
  await on.time.pass(1)
  expect(first.now).toMatchObject({ state: 'failed', error: { code: 'OUTCOME_UNKNOWN' } })
})

test('[R8] a lost lease aborts the signal and ends the call; what the effect does then changes nothing', async () => {
  const on = bench()
  const zombie = on.worker()
  const work = manual()
  const first = seen(zombie.ibid.once(INTENT, work.effect, { lease: '3s', recovery: 'retry' }))
  await turn()
  const { signal } = work.attempts[0] as (typeof work.attempts)[0]
  // Its renewals do not get through, and the lease lapses under it.
  on.tap.failBefore('swap', 3)
  await on.time.pass(3_000)
  const second = await on.open().once(INTENT, () => 'second', { recovery: 'retry' })
  expect(second.receipt.attempt).toBe(2)
  await on.time.pass(1_000)
  expect(first.now).toMatchObject({ state: 'failed', error: { code: 'LEASE_LOST', retriable: true } })
  expect(signal.aborted).toBe(true)
  await work.succeed('first')
  const detail = await on.open().get(INTENT)
  expect(detail).toMatchObject({ state: 'succeeded', value: 'second', attempt: 2 })
})

test('[R8] a signal asked for after the lease was lost is aborted from the start', async () => {
  const on = bench()
  const work = manual()
  const first = seen(on.open().once(INTENT, work.effect, { lease: '3s', timeout: '4s' }))
  await on.time.pass(5_000)
  expect(first.now.state).toBe('failed')
  expect(work.attempts[0]?.signal.aborted).toBe(true)
})

test('[R8] nothing starts on a lease that may be over: a process that slept after its claim asks first', async () => {
  const on = bench()
  const { claim } = on.store
  const answers: (() => void)[] = []
  const slow = {
    ...on.store,
    async claim(wanted: Parameters<typeof claim>[0]) {
      const claimed = await claim(wanted)
      await new Promise<void>((resolve) => void answers.push(resolve))
      return claimed
    },
  }
  let runs = 0
  const first = seen(on.open({ store: slow }).once(INTENT, () => ++runs, { lease: '3s', recovery: 'retry' }))
  await on.time.pass(3_000)
  const second = await on.open().once(INTENT, () => 'second', { recovery: 'retry' })
  answers[0]?.()
  await turn()
  expect(second.value).toBe('second')
  expect(runs).toBe(0)
  expect(first.now).toMatchObject({ state: 'failed', error: { code: 'LEASE_LOST' } })
})

test('[R3] a process that slept, and was not overtaken, renews before it starts', async () => {
  const on = bench()
  const { claim } = on.store
  const slow = {
    ...on.store,
    claim: slowly(on, 2_000, claim),
  }
  const done = await on.open({ store: slow }).once(INTENT, () => 'ran', { lease: '3s' })
  expect(done.value).toBe('ran')
  const events = (await on.store.audit({ ...WHERE, limit: 10 })).events.map(({ event }) => event)
  expect(events).toEqual(['claimed', 'renewed', 'settled'])
})

test('[R8] a renewal that took more than half of a lease to be answered is no lease to start on', async () => {
  const on = bench()
  const { claim, swap } = on.store
  const slow = {
    ...on.store,
    claim: slowly(on, 2_000, claim),
    swap: slowly(on, 1_600, swap),
  }
  let runs = 0
  const error = await failure(on.open({ store: slow }).once(INTENT, () => ++runs, { lease: '3s' }))
  expect(error).toMatchObject({
    code: 'STORE_UNAVAILABLE',
    message: expect.stringContaining('nothing was executed') as string,
  })
  expect(runs).toBe(0)
  const { events } = await on.store.audit({ ...WHERE, limit: 10 })
  expect(events.filter(({ event }) => event === 'renewed')).toHaveLength(3)
})

test('[R3] a blocked event loop renews first thing when it is free again', async () => {
  const ibid = createIbid({ store: memoryStore(), housekeeping: false })
  const names = async () => (await ibid.history(INTENT)).map(({ event }) => event)
  const done = await ibid.once(
    INTENT,
    async () => {
      block(80)
      await expect.poll(async () => await names()).toContain('renewed')
      return 'survived'
    },
    { lease: 120 },
  )
  expect(done.value).toBe('survived')
  const events = await names()
  expect([events[0], events.at(-1)]).toEqual(['claimed', 'settled'])
  await ibid.close()
})

test('[R7, R8] a loop that was blocked past its lease and overtaken loses: its caller is told', async () => {
  const on = bench()
  const work = manual()
  const sleeper = on.worker()
  const first = seen(sleeper.ibid.once(INTENT, work.effect, { lease: '3s', recovery: 'retry' }))
  await turn()
  on.time.clock.advance(10_000)
  const second = await on.open({ timers: on.time.worker().timers }).once(INTENT, () => 'second', {
    recovery: 'retry',
  })
  expect(second.value).toBe('second')
  await work.succeed('first')
  expect(first.now).toMatchObject({ state: 'failed', error: { code: 'LEASE_LOST' } })
})

test('[R7] leases of dead workers lapse after their own length and not before', async () => {
  const on = bench()
  await leaveBehind(on, { lease: '5s', recovery: 'retry' })
  const other = on.open()
  await on.time.pass(4_999)
  const early = await failure(
    within(
      on,
      other.once(INTENT, () => 'no', { wait: 0, recovery: 'retry' }),
      0,
    ),
  )
  expect(early.code).toBe('RETRY_IN_FLIGHT')
  await on.time.pass(1)
  expect((await other.once(INTENT, () => 'yes', { wait: 0, recovery: 'retry' })).value).toBe('yes')
})
