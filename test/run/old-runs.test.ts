/** Runs that come back after their steps, or their triggers, may have been forgotten. */
import { describe, expect, test } from 'vitest'
import type { Run, RunStatus, Runs } from '../../src/guards/run/index.js'
import { NotExecuted, OutcomeUnknown } from '../../src/index.js'
import { bench, failure, TRIGGER, WHO } from './bench.js'

const HOUR_MS = 3_600_000
const QUIET = { cancelEvery: 0, recoverEvery: false } as const
/** Steps are kept for four hours and a little. */
const SHORT = { timeout: '1m', window: '1h', sleep: '1h', maxAttempts: 2 } as const
const KEPT_MS = 4 * HOUR_MS + 2 * 90_000

async function held(runs: Runs): Promise<RunStatus> {
  const { runs: listed } = await runs.list({ agent: 'billing', state: 'unknown' })
  return listed[0] as RunStatus
}

describe('[R45] a run that comes back when its steps may be forgotten', () => {
  test('[R45] because it was given back again and again is held, and charges nobody twice', async () => {
    const on = bench()
    const { runs } = on.worker(QUIET)
    const done: string[] = []
    const body = async (run: Parameters<Parameters<Runs['register']>[1]>[0]): Promise<void> => {
      await run.step('charge', () => done.push('charge'))
      throw new NotExecuted('the warehouse is closed')
    }
    const told: string[] = []
    for (let tried = 0; tried < 10; tried++) {
      told.push((await failure(runs.start(TRIGGER, body, SHORT))).code)
      await on.time.pass(HOUR_MS / 2)
    }
    expect(done).toEqual(['charge'])
    expect(told).toEqual([...Array<string>(9).fill('NOT_EXECUTED'), 'OUTCOME_UNKNOWN'])
    expect(await runs.cancel((await held(runs)).runId, WHO)).toBe('cancelled')
  })

  test('[R45] because a person came late is held, also when its trigger was sent again meanwhile', async () => {
    const on = bench()
    const { runs } = on.worker(QUIET)
    const done: string[] = []
    runs.register(
      'billing',
      async (run) => {
        await run.step('charge', () => done.push('charge'))
        await run.step('ship', () => {
          throw new RangeError('no answer')
        })
      },
      SHORT,
    )
    await failure(runs.start(TRIGGER))
    const { runId } = await held(runs)
    await on.time.pass(10 * HOUR_MS)
    expect(await failure(runs.start(TRIGGER))).toMatchObject({ code: 'OUTCOME_UNKNOWN' })
    const error = await failure(runs.resume(runId, WHO))
    expect(error).toMatchObject({ code: 'OUTCOME_UNKNOWN' })
    expect(error.message).toContain('may be forgotten by now; nothing was executed')
    expect(done).toEqual(['charge'])
    expect(await held(runs)).toMatchObject({ runId })
  })

  test('[R45] while it is at work is held at its next step, whatever its code makes of that', async () => {
    const on = bench()
    const { runs } = on.worker(QUIET)
    const done: string[] = []
    let isSlow = false
    runs.register(
      'billing',
      async (run) => {
        if (isSlow) await new Promise<void>((end) => void on.time.timers.after(50_000, end))
        await Promise.allSettled([run.step('charge', () => done.push('charge'))])
        if (!isSlow) throw new OutcomeUnknown('is it done?', { action: 'look' })
      },
      SHORT,
    )
    await failure(runs.start(TRIGGER))
    const { runId } = await held(runs)
    isSlow = true
    await on.time.jump(KEPT_MS - 40_000)
    const resumed = failure(runs.resume(runId, WHO))
    await on.time.pass(120_000)
    const error = await resumed
    expect(error).toMatchObject({ code: 'OUTCOME_UNKNOWN' })
    expect(error.message).toContain('may be forgotten by now; this step was not executed')
    expect(error.action).toContain('runs.cancel')
    expect(done).toEqual(['charge'])
    expect(await held(runs)).toMatchObject({ runId, state: 'unknown' })
  })

  test('[R45] by the terms under which it took them is held, also when its terms are longer now', async () => {
    const on = bench()
    const done: string[] = []
    const one = on.worker(QUIET)
    const body = async (run: Run): Promise<void> => {
      await run.step('charge', () => done.push('charge'))
      throw new OutcomeUnknown('is it done?', { action: 'look' })
    }
    one.runs.register('billing', body, SHORT)
    await failure(one.runs.start(TRIGGER))
    const { runId } = await held(one.runs)
    await on.time.jump(10 * HOUR_MS)
    const { runs } = on.worker(QUIET)
    runs.register('billing', body, { ...SHORT, sleep: '2d' })
    await failure(runs.start(TRIGGER))
    expect((await failure(runs.resume(runId, WHO))).message).toContain('nothing was executed')
    expect(done).toEqual(['charge'])
  })

  test('[R14] stays held when it cannot be resumed because its trigger is forgotten', async () => {
    const on = bench()
    const { runs } = on.worker(QUIET)
    runs.register('billing', (run) => run.step('ship', () => Promise.reject(new RangeError('no'))), SHORT)
    await failure(runs.start(TRIGGER))
    const { runId } = await held(runs)
    await on.time.pass(10 * HOUR_MS)
    expect((await failure(runs.resume(runId, WHO))).message).toContain('nothing was changed')
    expect(await held(runs)).toMatchObject({ runId, state: 'unknown' })
  })
})
