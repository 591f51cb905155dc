/** Sleeps that something cuts short, or that are left over: what their code makes of that changes nothing. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Run, Runs } from '../../src/guards/run/index.js'
import { Rejected } from '../../src/index.js'
import { type Bench, bench, failure, TRIGGER, WHO } from './bench.js'

const HOUR_MS = 3_600_000
const QUIET = { cancelEvery: 0, recoverEvery: false } as const

const close = (runs: Runs): Promise<unknown> => runs.close()

async function cancel(runs: Runs): Promise<unknown> {
  const { runs: listed } = await runs.list({ agent: 'billing' })
  return await runs.cancel(listed[0]?.runId ?? '', WHO)
}

async function done(on: Bench, cutting: Promise<unknown>): Promise<void> {
  await on.time.pass(10)
  await cutting
}

describe('a sleep that its run does not await yet', () => {
  const unheard: unknown[] = []
  const hear = (reason: unknown): void => void unheard.push(reason)
  // In place of the listeners of vitest, which takes what nobody hears for a failure of its own.
  let listeners: NodeJS.UnhandledRejectionListener[]
  beforeEach(() => {
    unheard.length = 0
    listeners = process.listeners('unhandledRejection')
    process.removeAllListeners('unhandledRejection').on('unhandledRejection', hear)
  })
  afterEach(() => {
    process.removeAllListeners('unhandledRejection')
    for (const listener of listeners) process.on('unhandledRejection', listener)
  })

  test.each([
    ['the worker closes', close, 'CLOSED', (run: Run) => run.sleep('1h')],
    ['the run is cancelled', cancel, 'CANCELLED', (run: Run) => run.sleep('1h')],
    ['the worker closes', close, 'CLOSED', (run: Run) => run.sleepUntil(4_000_000_000_000)],
  ])('[R45] does not end the process when %s', async (_what, cut, code, sleep) => {
    const on = bench()
    const { runs } = on.worker({ ...QUIET, policy: { sleep: '36500d' } })
    const call = failure(
      runs.start(TRIGGER, async (run) => {
        const least = sleep(run)
        await run.step('work', () => new Promise<void>((end) => void on.time.timers.after(500, end)))
        await least
      }),
    )
    await on.time.pass(100)
    const cutting = cut(runs)
    await on.time.pass(10)
    await on.time.pass(1_000)
    await cutting
    expect(await call).toMatchObject({ code })
    expect(unheard).toEqual([])
  })
})

/** Goes on with whatever its sleep came to. */
async function settled(run: Run): Promise<string> {
  const [slept] = await Promise.allSettled([run.sleep('1h')])
  return slept.status
}

async function refusing(run: Run): Promise<string> {
  await run.sleep('1h').catch((cause: unknown) => {
    throw new Rejected('it could not wait', { code: 'NO_TIME', cause })
  })
  return 'fulfilled'
}

describe('code that goes on when its sleep was cut short', () => {
  test.each([
    ['returns', settled],
    ['refuses', refusing],
  ])('[R45] and %s has not done what the run was to do: another worker takes it up', async (_how, body) => {
    const on = bench()
    const one = on.worker(QUIET)
    const first = failure(one.runs.start(TRIGGER, body))
    await on.time.pass(100)
    await done(on, close(one.runs))
    expect(await first).toMatchObject({ code: 'CLOSED' })
    const two = on.worker(QUIET)
    two.runs.register('billing', body)
    expect(await two.runs.recover()).toHaveLength(1)
    await on.time.pass(HOUR_MS)
    const again = await two.runs.start(TRIGGER, () => 'never')
    expect(again).toMatchObject({ value: 'fulfilled', replayed: true })
  })

  test.each([
    ['returns', settled],
    ['refuses', refusing],
  ])('[R44] and %s does not end a run that was cancelled in another way', async (_how, body) => {
    const on = bench()
    const { runs } = on.worker(QUIET)
    const call = failure(runs.start(TRIGGER, body))
    await on.time.pass(100)
    await done(on, cancel(runs))
    expect(await call).toMatchObject({ code: 'CANCELLED' })
    expect((await runs.list({ agent: 'billing' })).runs).toMatchObject([{ state: 'failed' }])
  })
})

async function late(run: Run): Promise<string> {
  await run.sleep('1h')
  return 'late'
}

const race = (run: Run): Promise<string> => Promise.race([run.step('work', () => 'done'), late(run)])

describe('a sleep that is left over when its run has ended', () => {
  test('[R45] waits for nothing any more, whether the code returned or threw', async () => {
    const on = bench()
    const { runs } = on.worker(QUIET)
    const before = on.time.armed
    expect(await runs.start(TRIGGER, race)).toMatchObject({ value: 'done' })
    const throwing = async (run: Run): Promise<never> => {
      await race(run)
      throw new RangeError('a bug')
    }
    await failure(runs.start({ ...TRIGGER, key: 'evt_2' }, throwing))
    await on.time.pass(10)
    expect(on.time.armed).toBe(before)
  })

  test('goes on inside a step, which is under way for as long', async () => {
    const on = bench()
    const { runs } = on.worker(QUIET)
    const ended: string[] = []
    const call = runs.start(TRIGGER, async (run) => {
      void run.step('slow', async (step) => {
        await step.sleep('1m')
        ended.push('slow')
      })
      await run.sleep(5)
      return 'done'
    })
    await on.time.pass(10)
    expect(await call).toMatchObject({ value: 'done' })
    await on.time.pass(60_000)
    expect(ended).toEqual(['slow'])
  })
})
