/** What sleeping costs a run: none of its time and none of its attempts; and what ends it all the same. */
import { describe, expect, test } from 'vitest'
import type { Run, RunStatus, Runs } from '../../src/guards/run/index.js'
import { type Bench, bench, failure, forever, TRIGGER, WHO, type Worker } from './bench.js'

const HOUR_MS = 3_600_000
/** The defaults, without the looks for cancellations, which would be most of what happens in two days. */
const QUIET = { cancelEvery: 0 } as const

async function hours(on: Bench, count: number): Promise<void> {
  for (let hour = 0; hour < count; hour++) await on.time.pass(HOUR_MS)
}

async function only(runs: Runs): Promise<RunStatus> {
  const { runs: listed } = await runs.list({ agent: 'billing' })
  expect(listed).toHaveLength(1)
  return listed[0] as RunStatus
}

/** Charges, sleeps for two days, sends a mail. */
function refund(done: string[]): (run: Run) => Promise<number> {
  return async (run) => {
    await run.step('charge', () => done.push('charge'))
    await run.sleep('2d')
    await run.step('mail', () => done.push('mail'))
    return run.attempt
  }
}

/** A worker with the code, that has looked for runs to take up. */
async function taking(on: Bench, body: (run: Run) => Promise<unknown>): Promise<Worker> {
  const worker = on.worker(QUIET)
  worker.runs.register('billing', body)
  await worker.runs.recover()
  await on.time.pass(60_000)
  return worker
}

describe('[R45] a run that sleeps', () => {
  test('[R45] for two days under the defaults ends in its first attempt', async () => {
    const on = bench()
    const { runs } = on.worker(QUIET)
    const done: string[] = []
    runs.register('billing', refund(done))
    const call = runs.start(TRIGGER)
    await hours(on, 47)
    expect(done).toEqual(['charge'])
    await hours(on, 2)
    expect(await call).toMatchObject({ value: 1, replayed: false })
    expect(done).toEqual(['charge', 'mail'])
  })

  test('[R45] over more deployments than it has attempts goes on, and does nothing twice', async () => {
    const on = bench()
    const done: string[] = []
    const body = refund(done)
    let worker = await taking(on, body)
    const first = failure(worker.runs.start(TRIGGER))
    for (let deployment = 1; deployment <= 6; deployment++) {
      await hours(on, 1)
      const closed = worker.runs.close()
      await on.time.pass(10)
      await closed
      worker = await taking(on, body)
      expect(await only(worker.runs)).toMatchObject({ state: 'pending', attempt: deployment + 1 })
    }
    expect(await first).toMatchObject({ code: 'CLOSED', retriable: true })
    await hours(on, 44)
    expect(await only(worker.runs)).toMatchObject({ state: 'succeeded', attempt: 7 })
    expect(done).toEqual(['charge', 'mail'])
  })

  test('[R45] is handed over whatever its code makes of that', async () => {
    const on = bench()
    const { runs } = on.worker({ ...QUIET, policy: { maxAttempts: 1 } })
    const call = failure(
      runs.start(TRIGGER, async (run) => {
        await run.sleep('2d').catch((cause: unknown) => {
          throw new RangeError('something went wrong', { cause })
        })
      }),
    )
    await on.time.pass(10)
    const closed = runs.close()
    await on.time.pass(10)
    await closed
    expect(await call).toMatchObject({ code: 'CLOSED' })
    expect(await only(runs)).toMatchObject({ state: 'pending' })
  })

  test('[R46] longer than its attempts could take has not forgotten its steps when another goes on', async () => {
    const on = bench()
    const policy = { window: '10m', timeout: '10m', lease: '1m', maxAttempts: 1, sleep: '3d' } as const
    const done: string[] = []
    const one = on.worker({ ...QUIET, policy })
    void failure(one.runs.start(TRIGGER, refund(done)))
    await hours(on, 40)
    const closed = one.runs.close()
    await on.time.pass(10)
    await closed
    const two = on.worker({ ...QUIET, policy })
    await two.ibid.sweep()
    const call = two.runs.start(TRIGGER, refund(done))
    await hours(on, 9)
    expect(await call).toMatchObject({ value: 2 })
    expect(done).toEqual(['charge', 'mail'])
  })

  test('[R46] further than its steps are kept is told so, and does not begin to sleep', async () => {
    const on = bench()
    const { runs } = on.worker({ ...QUIET, policy: { sleep: '1h', maxAttempts: 1 } })
    const call = failure(runs.start(TRIGGER, (run) => run.sleep('2h')))
    expect(await call).toMatchObject({ code: 'OUTCOME_UNKNOWN', cause: { code: 'INVALID_INTENT' } })
    expect(await runs.start({ ...TRIGGER, key: 'evt_2' }, () => 'paid')).toMatchObject({ value: 'paid' })
  })
})

describe('[R14] what a sleep does not excuse', () => {
  test('[R14] a run that fails after each of its sleeps is held when its attempts are used up', async () => {
    const on = bench()
    let tries = 0
    const worker = await taking(on, async (run) => {
      await run.sleep('10m')
      tries++
      throw new RangeError('a bug')
    })
    void failure(worker.runs.start(TRIGGER))
    await hours(on, 2)
    expect(tries).toBe(5)
    const { runId, state } = await only(worker.runs)
    expect(state).toBe('unknown')
    expect(await failure(worker.runs.resume(runId, WHO))).toMatchObject({
      code: 'OUTCOME_UNKNOWN',
      message: expect.stringContaining('the last of 5 attempts') as string,
    })
    expect(tries).toBe(6)
  })

  test('[R14] a run whose workers die is held, also when it slept, and goes on when a person says so', async () => {
    const on = bench()
    const begun: number[] = []
    const done: string[] = []
    const body = async (run: Run): Promise<number> => {
      begun.push(run.attempt)
      return refund(done)(run)
    }
    let worker = await taking(on, body)
    void failure(worker.runs.start(TRIGGER))
    for (let death = 1; death <= 6; death++) {
      await on.time.pass(60_000)
      worker.stop()
      worker = await taking(on, body)
    }
    expect(begun).toEqual([1, 2, 3, 4, 5])
    const { runId, state } = await only(worker.runs)
    expect(state).toBe('unknown')
    const resumed = worker.runs.resume(runId, WHO)
    await hours(on, 49)
    expect(await resumed).toMatchObject({ replayed: false })
    expect(done).toEqual(['charge', 'mail'])
  })

  test.each<[string, (run: Run) => Promise<unknown>, number]>([
    ['after a sleep', (run) => run.sleep('3h').then(forever), 4],
    [
      'in a step beside a sleep',
      (run) => Promise.all([run.sleep('2d'), run.step('hang', forever, { timeout: '1d' })]),
      1,
    ],
  ])(
    '[R14, R8] code that hangs %s has its hour, and then its lease and its slot are free',
    async (_, body, at) => {
      const on = bench()
      const { runs } = on.worker({ ...QUIET, maxActive: 1 })
      let ended = false
      const call = failure(runs.start(TRIGGER, body)).finally(() => {
        ended = true
      })
      await hours(on, at - 1)
      await on.time.pass(HOUR_MS - 1_000)
      expect(ended).toBe(false)
      await on.time.pass(2_000)
      expect(await call).toMatchObject({ code: 'UPSTREAM_TIMEOUT', receipt: { state: 'pending' } })
      const other = runs.start({ ...TRIGGER, key: 'evt_2' }, () => 'admitted')
      expect(await other).toMatchObject({ value: 'admitted' })
      expect(await runs.start(TRIGGER, (run) => run.attempt)).toMatchObject({ value: 2 })
    },
  )
})
