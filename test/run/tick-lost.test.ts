/** Ticks that could get lost: behind a full house, a short memory, or a clock that is ahead. */
import { expect, test } from 'vitest'
import type { CatchUp } from '../../src/guards/run/index.js'
import { NotExecuted } from '../../src/index.js'
import { bench, gate, TRIGGER, type Worker } from './bench.js'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const startMs = Date.UTC(2030, 5, 1)
const hourly = { name: 'hourly', cron: '0 * * * *', timeZone: 'UTC' } as const

test('[R43, R44] a tick that was given back by a worker that then closed is run by another', async () => {
  const on = bench(startMs)
  const ran: string[] = []
  const first = on.worker()
  await first.runs.tick(hourly, () => 0)
  first.stop()
  // The first to wake up has the tick until it is due, and finds no slot then; the other was told that somebody has it.
  const [one, two] = [5_000, 100].map((aheadMs) =>
    on.worker({ maxActive: { perTenant: 1 }, clock: () => on.time.clock.now() + aheadMs }),
  ) as [Worker, Worker]
  const { passed, open } = gate()
  await on.time.pass(50 * MINUTE_MS)
  void two.runs.start(TRIGGER, () => passed)
  for (const [by, { runs }] of Object.entries({ one, two })) await runs.tick(hourly, () => ran.push(by))
  await on.time.pass(10 * MINUTE_MS + 100)
  expect((await two.runs.list({ agent: 'cron.hourly' })).runs).toMatchObject([{ state: 'released' }])
  await one.runs.close()
  open()
  await on.time.pass(5 * MINUTE_MS)
  expect(ran).toEqual(['two'])
})

test('[R44] ticks that are remembered for less than an hour are not skipped', async () => {
  const on = bench(startMs)
  const ran: number[] = []
  const short = { name: 'often', cron: '*/5 * * * *', timeZone: 'UTC', keep: '30m' } as const
  await on.worker().runs.tick(short, (_run, { at }) => ran.push(at.getUTCMinutes()))
  await on.time.pass(20 * MINUTE_MS)
  expect(ran).toEqual([5, 10, 15, 20])
})

test('[R44] the last tick that nobody was awake for is caught up by a worker whose clock is ahead', async () => {
  const on = bench(startMs)
  const ran: number[] = []
  const one = on.worker()
  await one.runs.tick(hourly, (_run, { at }) => ran.push(at.getUTCHours()))
  await on.time.pass(1.5 * HOUR_MS)
  one.stop()
  await on.time.pass(5 * HOUR_MS)
  const ahead = on.worker({ clock: () => on.time.clock.now() + 2 * HOUR_MS })
  await ahead.runs.tick(hourly, (_run, { at }) => ran.push(at.getUTCHours()))
  await on.time.pass(HOUR_MS)
  expect(ran).toEqual([1, 6, 7])
})

test('[R44] a tick is not lost when a clock is set further ahead than ticks are remembered', async () => {
  const on = bench(startMs)
  const ran: number[] = []
  let aheadMs = 0
  const { runs } = on.worker({ clock: () => on.time.clock.now() + aheadMs })
  await runs.tick({ ...hourly, keep: '30m' }, () => ran.push(on.time.clock.now() - startMs))
  await on.time.pass(50 * MINUTE_MS)
  aheadMs = 40 * MINUTE_MS
  await on.time.pass(20 * MINUTE_MS)
  expect(ran).toEqual([HOUR_MS])
})

test.each<CatchUp>(['none', 'last', 'all'])(
  '[R44] a tick within grace was not missed: catch-up %s',
  async (catchUp) => {
    const on = bench(startMs)
    const ran: number[] = []
    const often = { name: 'often', cron: '*/10 * * * * *', timeZone: 'UTC', catchUp } as const
    await on.worker().runs.tick(often, (_run, { at }) => ran.push(at.getUTCSeconds()))
    await on.time.pass(21_000)
    await on.time.jump(32_000)
    await on.time.pass(1_000)
    expect(ran.toSorted((a, b) => a - b)).toEqual([10, 20, 30, 40, 50])
  },
)

test.each([
  ['as it says', 20_000, 20_000],
  ['in a second', undefined, 1_000],
])('[R44] a tick whose code says that nothing ran is run again, %s', async (_what, retryAfterMs, waitMs) => {
  const on = bench(startMs)
  const tries: number[] = []
  const { runs } = on.worker()
  await runs.tick(hourly, () => {
    tries.push(on.time.clock.now() - startMs - HOUR_MS)
    if (tries.length < 3) throw new NotExecuted('the bank is busy', { code: 'BUSY', retryAfterMs })
  })
  await on.time.pass(HOUR_MS + 10 * MINUTE_MS)
  expect(tries).toEqual([0, waitMs, 2 * waitMs])
  expect((await runs.list({ agent: 'cron.hourly' })).runs).toMatchObject([{ state: 'succeeded' }])
})

test('[R44] a tick whose code never gets to run is over when it is as old as ticks are remembered', async () => {
  const on = bench(startMs)
  const tries: number[] = []
  const { runs } = on.worker({ cancelEvery: 0, recoverEvery: false })
  const daily = { name: 'daily', cron: '0 1 * * *', timeZone: 'UTC', keep: '4h' } as const
  await runs.tick(daily, () => {
    tries.push((on.time.clock.now() - startMs) / HOUR_MS)
    throw new NotExecuted('the bank is busy', { retryAfterMs: HOUR_MS })
  })
  await on.time.pass(20 * HOUR_MS)
  expect(tries).toEqual([1, 2, 3, 4])
})
