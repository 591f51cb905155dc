/** Sleeps that something cuts short, or that are left over: what their code makes of that changes nothing. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Run, Runs } from '../../src/guards/run/index.js'
import { bench, failure, TRIGGER, WHO } from './bench.js'

const QUIET = { cancelEvery: 0, recoverEvery: false } as const

const close = (runs: Runs): Promise<unknown> => runs.close()

async function cancel(runs: Runs): Promise<unknown> {
  const { runs: listed } = await runs.list({ agent: 'billing' })
  return await runs.cancel(listed[0]?.runId ?? '', WHO)
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
