/** Runs that were called off stay so: given back, taken up later, or forgotten too early. */
import { describe, expect, test } from 'vitest'
import type { RunStatus, Runs, Tick } from '../../src/guards/run/index.js'
import { NotExecuted } from '../../src/index.js'
import {
  type Bench,
  bench,
  dieIn,
  failure,
  forever,
  gate,
  LEASE,
  TRIGGER,
  WHO,
  type Worker,
} from './bench.js'

const DAY_MS = 86_400_000

async function only(runs: Runs, agent = 'billing'): Promise<RunStatus> {
  const { runs: listed } = await runs.list({ agent })
  expect(listed).toHaveLength(1)
  return listed[0] as RunStatus
}

describe('[R43] a run that was cancelled', () => {
  test('[R43] and given back before its worker knew is not started again', async () => {
    const on = bench()
    const [one, two] = [on.worker({ cancelEvery: '1h' }), on.worker({ cancelEvery: '1h' })]
    const { passed, open } = gate()
    const first = failure(
      one.runs.start(TRIGGER, async () => {
        await passed
        throw new NotExecuted('not today')
      }),
    )
    await on.time.pass(10)
    const { runId } = await only(one.runs)
    const cancelling = two.runs.cancel(runId, WHO)
    await on.time.pass(10)
    expect(await cancelling).toBe('cancelling')
    open()
    await on.time.pass(10)
    expect(await first).toMatchObject({ code: 'NOT_EXECUTED' })
    const done: string[] = []
    const again = one.runs.start(TRIGGER, (run) => run.step('charge', () => done.push('charge')))
    expect(await failure(again)).toMatchObject({ code: 'CANCELLED' })
    expect(done).toEqual([])
  })

  test('[R44] as a tick is remembered as long as the tick, and not caught up', async () => {
    const on = bench(Date.UTC(2030, 5, 1))
    const weekly = { name: 'weekly', cron: '0 0 * * 0', timeZone: 'UTC', keep: '14d' } as const
    const ran: string[] = []
    async function ticking(body: (tick: Tick) => unknown): Promise<ReturnType<typeof on.worker>> {
      const worker = on.worker({ cancelEvery: 0, recoverEvery: false })
      await worker.runs.tick(weekly, (_run, tick) => body(tick))
      return worker
    }
    const first = await ticking(() => Promise.reject(new RangeError('the database is away')))
    await on.time.pass(1.5 * DAY_MS)
    expect(await first.runs.cancel((await only(first.runs, 'cron.weekly')).runId, WHO)).toBe('cancelled')
    first.stop()
    await on.time.pass(2 * DAY_MS)
    await ticking(({ at }) => ran.push(at.toISOString()))
    await on.time.pass(60_000)
    expect(ran).toEqual([])
  })

  test.each([
    ['nobody', { by: '', why: 'because' }],
    ['somebody who does not say why', { by: 'ann' } as never],
    ['nothing at all', undefined as never],
  ])('by %s was not: nothing is written', async (_whom, who) => {
    const on = bench()
    const { runs, ibid } = on.worker()
    await failure(runs.start(TRIGGER, (run) => run.step('ship', () => Promise.reject(new RangeError('no')))))
    const { runId } = await only(runs)
    expect(await failure(runs.cancel(runId, who))).toMatchObject({ code: 'INVALID_INTENT' })
    expect((await ibid.list({ scope: 'cancel:billing' })).receipts).toEqual([])
    expect(await only(runs)).toMatchObject({ state: 'unknown' })
  })
})

/** It waits on `waiting`, behind a run of another worker that never ends. */
async function waitingForSlot(done: string[]): Promise<{
  readonly on: Bench
  readonly waiting: Worker
  readonly run: () => Promise<RunStatus>
}> {
  const on = bench()
  const options = { ...LEASE, maxActive: 1, cancelEvery: '1h' } as const
  await dieIn({ ...on, worker: (more) => on.worker({ ...options, ...more }) }, forever)
  void on.worker(options).runs.start({ ...TRIGGER, key: 'evt_2' }, forever)
  await on.time.pass(2_000)
  const waiting = on.worker(options)
  waiting.runs.register('billing', (run) => run.step('charge', () => done.push('charge')))
  await on.time.pass(3_000)
  const run = async (): Promise<RunStatus> =>
    (await waiting.runs.list({ agent: 'billing' })).runs.find(({ key }) => key === 'evt_1') as RunStatus
  expect(await run()).toMatchObject({ state: 'pending', attempt: 2 })
  return { on, waiting, run }
}

describe('[R43] a run that lost its worker and waits for a slot', () => {
  test('[R43] ends at once when it is cancelled', async () => {
    const done: string[] = []
    const { on, waiting, run } = await waitingForSlot(done)
    const cancelling = waiting.runs.cancel((await run()).runId, WHO)
    await on.time.pass(500)
    await cancelling
    expect(await run()).toMatchObject({ state: 'failed' })
    expect(done).toEqual([])
  })

  test('[R43] is left to another worker when its own closes, and uses up no attempt', async () => {
    const { on, waiting, run } = await waitingForSlot([])
    let closed = false
    void waiting.runs.close().then(() => (closed = true))
    await on.time.pass(500)
    expect(closed).toBe(true)
    const { runId, state } = await run()
    expect(state).toBe('pending')
    expect((await waiting.ibid.list({ scope: `spared:${runId}` })).receipts).toHaveLength(1)
  })
})
