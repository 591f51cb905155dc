/** Runs whose worker died, taken up by one that has the code; and runs that are listed, watched and cancelled. */
import { describe, expect, test } from 'vitest'
import type { Run, RunDetail } from '../../src/guards/run/index.js'
import { faultyStore } from '../../src/testing/index.js'
import { createIbid } from '../../src/index.js'
import { createRuns } from '../../src/guards/run/index.js'
import { bench, failure, forever, gate, WHO } from './bench.js'

const TRIGGER = { agent: 'billing', key: 'evt_1', trigger: { invoice: 7 } }
const POLICY = { policy: { lease: '3s' } } as const

describe('[R43, R45] a run whose worker died', () => {
  test('[R45] is taken up by a worker that has the code, with the trigger that it never saw', async () => {
    const { worker, time } = bench()
    const dead = worker(POLICY)
    const seen: unknown[] = []
    void dead.runs.start({ ...TRIGGER, via: [{ scope: 'hook:stripe', key: 'evt_1' }] }, forever)
    await time.pass(10)
    const [without, having] = [worker(POLICY), worker(POLICY)]
    without.runs.register('other', () => 'no')
    having.runs.register('billing', (run) => {
      seen.push(run.trigger, run.attempt, run.chain)
      return 'paid'
    })
    await time.pass(30_000)
    expect(seen).toEqual([])
    dead.stop()
    await time.pass(30_000)
    expect(seen).toEqual([
      TRIGGER.trigger,
      2,
      [
        { scope: 'hook:stripe', key: 'evt_1' },
        { scope: 'run:billing', key: 'evt_1' },
      ],
    ])
    expect(await without.runs.start(TRIGGER, () => 'no')).toMatchObject({ value: 'paid', replayed: true })
  })

  test('[R43] by one worker, however many look', async () => {
    const { worker, time } = bench()
    const dead = worker(POLICY)
    void dead.runs.start(TRIGGER, forever)
    await time.pass(10)
    dead.stop()
    const by: number[] = []
    for (let n = 0; n < 5; n++) worker(POLICY).runs.register('billing', () => by.push(n))
    await time.pass(60_000)
    expect(by).toHaveLength(1)
  })

  test('[R14] that dies with every worker is held in the end, and not tried for ever', async () => {
    const { worker, time } = bench()
    let tries = 0
    const policy = { lease: '1s', maxAttempts: 3 } as const
    const { runs } = worker({ policy })
    runs.register('billing', () => {
      tries++
      throw new RangeError('a bug')
    })
    await failure(runs.start(TRIGGER))
    await time.pass(120_000)
    expect(tries).toBe(3)
    expect((await runs.list({ agent: 'billing', state: 'unknown' })).runs).toHaveLength(1)
  })

  test('[R12] is taken up when the store is back', async () => {
    const { worker, time, store } = bench()
    const dead = worker(POLICY)
    void dead.runs.start(TRIGGER, forever)
    await time.pass(10)
    dead.stop()
    const faulty = faultyStore(store)
    const ibid = createIbid({ store: faulty, tenant: 'acme', housekeeping: false, timers: time.timers })
    const runs = createRuns({ ibid, timers: time.timers, ...POLICY })
    let ran = 0
    runs.register('billing', () => ++ran)
    faulty.startOutage()
    await time.pass(60_000)
    expect(ran).toBe(0)
    faulty.endOutage()
    await time.pass(60_000)
    expect(ran).toBe(1)
    await runs.close()
  })

  test('[R43] was admitted before: it waits for a slot, and is not turned away', async () => {
    const { worker, time } = bench()
    const options = { ...POLICY, maxActive: 1 }
    const dead = worker(options)
    void dead.runs.start(TRIGGER, forever)
    await time.pass(10)
    dead.stop()
    await time.pass(3_500)
    const other = worker(options)
    const { passed, open } = gate<string>()
    const busy = other.runs.start({ ...TRIGGER, key: 'evt_2' }, () => passed)
    await time.pass(100)
    const taken = other.runs.start(TRIGGER, () => 'taken')
    await time.pass(20_000)
    open('done')
    await time.pass(2_000)
    expect(await busy).toMatchObject({ value: 'done' })
    expect(await taken).toMatchObject({ value: 'taken', replayed: false })
  })
})

describe('a run that is looked at', () => {
  test('is listed and got, with its steps that are open', async () => {
    const { worker, time } = bench()
    const { runs } = worker()
    const { passed, open } = gate<string>()
    const first = runs.start(TRIGGER, (run) => run.step('charge', () => passed))
    await runs.start({ ...TRIGGER, key: 'evt_2' }, () => 'done')
    await time.pass(10)
    const { runs: pending } = await runs.list({ agent: 'billing', state: 'pending' })
    expect(pending).toMatchObject([{ key: 'evt_1', agent: 'billing', tenant: 'acme', attempt: 1 }])
    expect((await runs.list({ agent: 'billing' })).runs).toHaveLength(2)
    const runId = pending[0]?.runId as string
    const detail = await runs.get(runId)
    expect(detail).toMatchObject({ state: 'pending', open: [{ key: '1', state: 'pending' }] })
    open('paid')
    await first
    expect(await runs.get(runId)).toMatchObject({ state: 'succeeded', value: 'paid', open: [] })
    expect(await runs.get(runId.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A')))).toBeUndefined()
    expect(await failure(runs.get('nonsense'))).toMatchObject({ code: 'INVALID_INTENT' })
  })

  test('is watched until it ends', async () => {
    const { worker, time } = bench()
    const { runs } = worker()
    const [one, two] = [gate(), gate()]
    const first = runs.start(TRIGGER, async (run) => {
      await run.step('charge', () => one.passed)
      await run.step('mail', () => two.passed)
      return 'paid'
    })
    await time.pass(10)
    const { runs: listed } = await runs.list({ agent: 'billing' })
    const seen: RunDetail[] = []
    const watching = (async () => {
      for await (const detail of runs.watch(listed[0]?.runId as string)) seen.push(detail)
    })()
    await time.pass(1_000)
    one.open()
    await time.pass(1_000)
    two.open()
    await time.pass(1_000)
    await watching
    await first
    expect(seen.map(({ state, open }) => [state, open.map(({ key }) => key)])).toEqual([
      ['pending', ['1']],
      ['pending', ['2']],
      ['succeeded', []],
    ])
  })
})

const stepping = (done: string[], blocker: Promise<void>) => async (run: Run) => {
  await run.step('one', () => done.push('one'))
  await blocker
  await run.step('two', () => done.push('two'))
}

describe('a run that is cancelled', () => {
  test('by its own worker or another stops at its next step, and that is its outcome for good', async () => {
    for (const elsewhere of [false, true]) {
      const { worker, time } = bench()
      const [one, two] = [worker(), worker()]
      const done: string[] = []
      const { passed, open } = gate()
      const first = failure(one.runs.start(TRIGGER, stepping(done, passed)))
      await time.pass(10)
      const { runs: listed } = await one.runs.list({ agent: 'billing' })
      const runId = listed[0]?.runId as string
      const asked = (elsewhere ? two : one).runs.cancel(runId, WHO)
      await time.pass(2_000)
      expect(await asked).toBe('cancelling')
      open()
      await time.pass(10)
      expect(await first).toMatchObject({ code: 'CANCELLED', data: { runId, ...WHO } })
      expect(done).toEqual(['one'])
      expect(await failure(two.runs.start(TRIGGER, () => 'no'))).toMatchObject({
        code: 'CANCELLED',
        replayed: true,
      })
      expect(await two.runs.cancel(runId, WHO)).toBe('cancelled')
    }
  })

  test('while it sleeps wakes up to that', async () => {
    const { worker, time } = bench()
    const { runs } = worker({ cancelEvery: 0 })
    const first = failure(runs.start(TRIGGER, (run) => run.sleep('10h')))
    await time.pass(10)
    const { runs: listed } = await runs.list({ agent: 'billing' })
    const asked = runs.cancel(listed[0]?.runId as string, WHO)
    await time.pass(1_000)
    await asked
    expect(await first).toMatchObject({ code: 'CANCELLED' })
    expect(time.elapsedMs()).toBeLessThan(5_000)
  })

  test('stays cancelled whatever its code makes of that', async () => {
    const { worker, time } = bench()
    const { runs } = worker()
    const first = failure(
      runs.start(TRIGGER, async (run) => {
        await run.sleep('10h').catch((cause: unknown) => {
          throw new RangeError('something went wrong', { cause })
        })
      }),
    )
    await time.pass(10)
    const { runs: listed } = await runs.list({ agent: 'billing' })
    const asked = runs.cancel(listed[0]?.runId as string, WHO)
    await time.pass(1_000)
    await asked
    expect(await first).toMatchObject({ code: 'CANCELLED' })
  })

  test('in the hands of a worker that dies before it hears of it is not taken up again', async () => {
    const { worker, time } = bench()
    const dead = worker(POLICY)
    void dead.runs.start(TRIGGER, forever)
    await time.pass(10)
    dead.stop()
    const { runs } = worker(POLICY)
    const { runs: listed } = await runs.list({ agent: 'billing' })
    const asked = runs.cancel(listed[0]?.runId as string, WHO)
    await time.pass(100)
    expect(await asked).toBe('cancelling')
    let ran = 0
    runs.register('billing', () => ++ran)
    await time.pass(60_000)
    expect(ran).toBe(0)
    expect((await runs.list({ agent: 'billing' })).runs).toMatchObject([{ state: 'failed', attempt: 2 }])
  })

  test('without a worker, held, or given back ends there and then', async () => {
    const { worker, time } = bench()
    const dead = worker(POLICY)
    void dead.runs.start(TRIGGER, forever)
    await time.pass(10)
    dead.stop()
    await time.pass(3_500)
    const { runs } = worker(POLICY)
    const held = { ...TRIGGER, key: 'held' }
    await failure(
      runs.start(held, () => runs.start(held, () => 1, { wait: 0, maxAttempts: 1 }), { maxAttempts: 1 }),
    )
    const { runs: listed } = await runs.list({ agent: 'billing' })
    expect(listed.map(({ state }) => state).toSorted()).toEqual(['pending', 'unknown'])
    for (const { runId } of listed) expect(await runs.cancel(runId, WHO)).toBe('cancelled')
    runs.register('billing', () => 'no')
    await time.pass(60_000)
    const { runs: after } = await runs.list({ agent: 'billing' })
    expect(after.map(({ state }) => state)).toEqual(['failed', 'failed'])
  })

  test('after its end, or never begun, says so', async () => {
    const { worker } = bench()
    const { runs } = worker()
    const { runId } = await runs.start(TRIGGER, () => 'paid')
    expect(await runs.cancel(runId, WHO)).toBe('ended')
    const other = runId.replace('evt_1', 'evt_9')
    expect(await failure(runs.cancel(other, WHO))).toMatchObject({ code: 'NO_SUCH_RUN' })
    expect(await failure(runs.resume(other, WHO))).toMatchObject({ code: 'NO_SUCH_RUN' })
    expect(await failure(runs.resume(runId, WHO))).toMatchObject({ code: 'NOT_REGISTERED' })
  })
})
