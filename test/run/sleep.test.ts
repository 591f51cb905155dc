/** Runs that wait: to the instant that was first written down, on whichever worker they wake up. */
import { describe, expect, test } from 'vitest'
import type { Run } from '../../src/guards/run/index.js'
import { bench, dieIn, failure, LEASE as POLICY, TRIGGER } from './bench.js'

async function sleeper(run: Run): Promise<number> {
  await run.sleep('1h')
  return run.attempt
}

describe('[R45] a run that waits', () => {
  test('[R45] sleeps to the instant that was first written down, not anew, and not by its own clock', async () => {
    const on = bench()
    const start = on.time.elapsedMs()
    await dieIn(on, async (run) => {
      await run.sleep('1h')
    })
    await on.time.pass(600_000)
    const woken: number[] = []
    const { runs } = on.worker({ ...POLICY, clock: () => 0 })
    const call = runs.start(TRIGGER, async (run) => {
      await run.sleep('1h')
      woken.push(on.time.elapsedMs() - start)
    })
    await on.time.pass(3_600_000)
    await call
    expect(woken[0]).toBeGreaterThanOrEqual(3_600_000)
    expect(woken[0]).toBeLessThan(3_601_000)
  })

  test('[R45] sleeps until an instant, or not at all when that has passed', async () => {
    const on = bench()
    const wake = on.time.clock.now() + 5_000
    const call = on.worker().runs.start(TRIGGER, async (run) => {
      await run.sleepUntil(new Date(wake))
      const at = on.time.clock.now()
      await run.sleepUntil(wake - 1_000)
      return [at, on.time.clock.now()]
    })
    await on.time.pass(10_000)
    const { value } = await call
    expect(value[0]).toBeGreaterThanOrEqual(wake)
    expect(value[1]).toBe(value[0])
  })

  test('[R46] longer than its window has not forgotten its steps when it is resumed', async () => {
    const on = bench()
    const policy = { window: '10m', timeout: '10h', lease: '10m' } as const
    const done: string[] = []
    const body = async (run: Run): Promise<number> => {
      await run.step('charge', () => done.push('charge'))
      await run.sleep('5h')
      return run.attempt
    }
    const dead = on.worker({ policy })
    void dead.runs.start(TRIGGER, body)
    await on.time.pass(4 * 3_600_000)
    dead.stop()
    await on.time.pass(650_000)
    const { runs, ibid } = on.worker({ policy })
    await ibid.sweep()
    const call = runs.start(TRIGGER, body)
    await on.time.pass(2 * 3_600_000)
    expect(await call).toMatchObject({ value: 2, replayed: false })
    expect(done).toEqual(['charge'])
  })

  test('[R45] is left to another worker when its own closes, and goes on there at once', async () => {
    const on = bench()
    const [one, two] = [on.worker(POLICY), on.worker(POLICY)]
    const body = sleeper
    const first = failure(one.runs.start(TRIGGER, body))
    await on.time.pass(10)
    const closed = one.runs.close()
    await on.time.pass(10)
    await closed
    expect(await first).toMatchObject({ code: 'CLOSED', retriable: true })
    two.runs.register('billing', body)
    expect(await two.runs.recover()).toHaveLength(1)
    await on.time.pass(3_600_000)
    expect(await two.runs.start(TRIGGER, () => 0)).toMatchObject({ value: 2, replayed: true })
  })
})

test('[R44] a run that was claimed before its tick was due sleeps no longer for that', async () => {
  const startMs = Date.UTC(2030, 5, 1)
  const on = bench(startMs)
  let aheadMs = 0
  const { runs } = on.worker({ clock: () => on.time.clock.now() + aheadMs })
  const at: number[] = []
  const now = (): number => on.time.clock.now() - startMs
  const hourly = { name: 'hourly', cron: '0 * * * *', timeZone: 'UTC' } as const
  await runs.tick(hourly, async (run, tick) => {
    at.push(now())
    await run.sleepUntil(tick.at.getTime() + 60_000)
    at.push(now())
  })
  await on.time.pass(55 * 60_000)
  aheadMs = 20_000
  await on.time.pass(10 * 60_000)
  expect(at).toEqual([3_600_000, 3_660_000])
})
