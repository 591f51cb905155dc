/** Steps: what committed is skipped, what went another way is reported, nested, at the same time, and waiting. */
import { describe, expect, test } from 'vitest'
import { Rejected } from '../../src/core/errors.js'
import type { Run, StepOptions } from '../../src/guards/run/index.js'
import { type Bench, bench, dieIn, failure, forever, LEASE as POLICY, TRIGGER } from './bench.js'

async function resumed(on: Bench, body: (run: Run) => unknown): Promise<unknown> {
  const call = on.worker(POLICY).runs.start(TRIGGER, body)
  const settled = call.then(
    ({ value }) => ({ value }),
    (error: unknown) => ({ error }),
  )
  await on.time.pass(60_000)
  const outcome = await settled
  if ('error' in outcome) throw outcome.error
  return outcome.value
}

const charging = (effect: () => unknown) => (run: Run) => run.step('charge', effect)

describe('[R45] a resumed run', () => {
  test('[R45] skips the steps that committed, and returns their results, also what JSON lacks', async () => {
    const on = bench()
    const done: string[] = []
    const at = new Date(0)
    const body = (last: () => Promise<unknown>) => async (run: Run) => {
      const a = await run.step('a', () => (done.push('a'), { at, big: 10n }))
      const b = await run.step('b', () => (done.push('b'), undefined))
      await last()
      return [a, b, await run.step('c', () => (done.push('c'), 'c'))]
    }
    await dieIn(on, body(forever))
    expect(
      await resumed(
        on,
        body(() => Promise.resolve()),
      ),
    ).toEqual([{ at, big: 10n }, undefined, 'c'])
    expect(done).toEqual(['a', 'b', 'c'])
  })

  test('[R7] a step whose worker died in the middle of it is held by default, and so is its run', async () => {
    const on = bench()
    let ran = 0
    const body = charging
    await dieIn(
      on,
      body(() => (ran++, forever())),
    )
    const { runs, ibid } = on.worker(POLICY)
    const refused = failure(
      runs.start(
        TRIGGER,
        body(() => ran++),
      ),
    )
    await on.time.pass(60_000)
    const error = await refused
    expect(error).toMatchObject({ code: 'OUTCOME_UNKNOWN', retriable: false })
    const { step, runId } = error.data as { step: { scope: string; key: string }; runId: string }
    expect(step).toMatchObject({ scope: `step:${runId}`, key: '1' })
    const value = { name: 'charge', value: 'ch_1' }
    await ibid.resolve(step, { as: 'succeeded', value }, { by: 'ann', why: 'it is on the statement' })
    runs.register(
      'billing',
      body(() => ran++),
    )
    expect(await runs.resume(runId, { by: 'ann', why: 'the step is settled' })).toMatchObject({
      value: 'ch_1',
    })
    expect(ran).toBe(1)
  })

  test.each<[string, StepOptions<string>['recovery'], string, number]>([
    ['retry: runs again', 'retry', 'second', 2],
    ['check, found: takes what is there', { check: () => ({ found: true, value: 'first' }) }, 'first', 1],
    ['check, not found: runs again', { check: () => ({ found: false }) }, 'second', 2],
  ])('[R7] a step with %s', async (_what, recovery, value, times) => {
    const on = bench()
    let ran = 0
    const body = (effect: () => string | Promise<string>) => (run: Run) =>
      run.step('charge', effect, { recovery })
    await dieIn(
      on,
      body(() => (ran++, forever())),
    )
    expect(
      await resumed(
        on,
        body(() => (ran++, 'second')),
      ),
    ).toBe(value)
    expect(ran).toBe(times)
  })

  test.each<[string, string, StepOptions, object]>([
    ['another name', 'refund', { input: 10 }, { step: 'refund', recorded: 'charge' }],
    ['another input', 'charge', { input: 11 }, { step: 'charge', recorded: 'charge' }],
    ['no input', 'charge', {}, { step: 'charge', recorded: 'charge' }],
  ])(
    '[R38, R45] with %s at the same place has diverged: it is reported and held, not executed',
    async (_what, name, options, data) => {
      const on = bench()
      const done: string[] = []
      await dieIn(on, async (run) => {
        await run.step('charge', () => done.push('charge'), { input: 10 })
        await forever()
      })
      const call = resumed(on, (run) => run.step(name, () => done.push(name), options))
      const error = await failure(call)
      expect(error).toMatchObject({
        code: 'DIVERGED_REPLAY',
        retriable: false,
        data: { place: '1', ...data },
      })
      expect(done).toEqual(['charge'])
      const { runs } = on.worker(POLICY)
      const { runs: held } = await runs.list({ agent: 'billing', state: 'unknown' })
      expect(held).toHaveLength(1)
      // With the code it was started with, it goes on.
      runs.register('billing', (run) => run.step('charge', () => done.push('again'), { input: 10 }))
      const runId = held[0]?.runId as string
      expect(await runs.resume(runId, { by: 'ann', why: 'rolled back' })).toMatchObject({ value: 1 })
      expect(done).toEqual(['charge'])
    },
  )
})

describe('[R45] steps', () => {
  test('[R45] nested: a parent that is run again skips the inner steps that committed', async () => {
    const on = bench()
    const done: string[] = []
    const body = (last: () => Promise<unknown>) => (run: Run) =>
      run.step(
        'outer',
        async (outer) => {
          const one = await outer.step('one', () => (done.push('one'), 1))
          const two = await outer.step('two', (inner) => inner.step('deep', () => (done.push('deep'), 2)), {
            recovery: 'retry',
          })
          await last()
          return one + two
        },
        { recovery: 'retry' },
      )
    await dieIn(on, body(forever))
    expect(
      await resumed(
        on,
        body(() => Promise.resolve()),
      ),
    ).toBe(3)
    expect(done).toEqual(['one', 'deep'])
  })

  test('[R45] at the same time: each keeps its place, whichever ended first', async () => {
    const on = bench()
    const done: number[] = []
    const body = (stuck: number) => (run: Run) =>
      Promise.all(
        [1, 2, 3, 4].map((n) =>
          run.step(
            'part',
            async () => {
              if (n === stuck) await forever()
              done.push(n)
              return n * 10
            },
            { input: n, recovery: 'retry' },
          ),
        ),
      )
    await dieIn(on, body(2))
    expect(done).toEqual([1, 3, 4])
    expect(await resumed(on, body(0))).toEqual([10, 20, 30, 40])
    expect(done).toEqual([1, 3, 4, 2])
  })

  test('[R45] with a place of their own may come in any order', async () => {
    const on = bench()
    const done: string[] = []
    const body = (order: readonly string[], last: () => Promise<unknown>) => async (run: Run) => {
      for (const name of order) await run.step(name, () => done.push(name), { place: name })
      await last()
      return done.length
    }
    await dieIn(on, body(['a', 'b'], forever))
    expect(
      await resumed(
        on,
        body(['b', 'a'], () => Promise.resolve()),
      ),
    ).toBe(2)
    expect(done).toEqual(['a', 'b'])
  })

  test('[R20] have a key that no step of any other run has, the same in every attempt', async () => {
    const on = bench()
    const keys: string[] = []
    const body = (run: Run) => run.step('charge', (step) => keys.push(step.key), { recovery: 'retry' })
    await dieIn(on, (run) =>
      run.step('charge', (step) => (keys.push(step.key), forever()), { recovery: 'retry' }),
    )
    await resumed(on, body)
    await on.worker(POLICY).runs.start({ ...TRIGGER, tenant: 'zeta' }, body)
    expect(keys[0]).toBe(keys[1])
    expect(keys[2]).not.toBe(keys[0])
  })

  test.each([
    ['a name that is empty', '', () => 1],
    ['no function', 'charge', undefined],
  ])('with %s are refused', async (_what, name, fn) => {
    const { worker } = bench()
    const call = worker().runs.start(TRIGGER, (run) => run.step(name, fn as () => number))
    expect(await failure(call)).toMatchObject({ code: 'INVALID_INTENT' })
  })
})

/** As another library would make it: its `then` gives nothing back. */
const later = (settle: (resolve: (value: unknown) => void, reject: (error: unknown) => void) => void) => ({
  // oxlint-disable-next-line unicorn/no-thenable
  then(resolve: (value: unknown) => void, reject: (error: unknown) => void) {
    queueMicrotask(() => settle(resolve, reject))
  },
})

describe('what a step gives and is given', () => {
  test('[R9] a promise of another library counts as one, whatever its `then` gives back', async () => {
    const { runs, ibid } = bench().worker(POLICY)
    const paid = await runs.start(TRIGGER, (run) => run.step('pay', () => later((yes) => yes(42)) as never))
    expect(paid.value).toBe(42)
    const declined = new Rejected('card declined')
    const refused = runs.start({ ...TRIGGER, key: 'other' }, (run) =>
      run.step('pay', () => later((_, no) => no(declined)) as never),
    )
    expect((await failure(refused)).message).toContain('card declined')
    const { receipts } = await ibid.list({ state: ['failed'] })
    expect(receipts.filter(({ scope }) => scope.startsWith('step:'))).toHaveLength(1)
  })

  test('null in the place of options is none', async () => {
    const { runs } = bench().worker(POLICY)
    const { value } = await runs.start(TRIGGER, (run) => run.step('pay', () => 42, null as never))
    expect(value).toBe(42)
  })

  test('[R45] a copy of the handle has all of it', async () => {
    const { runs } = bench().worker(POLICY)
    const { value } = await runs.start(TRIGGER, (run) =>
      run.step('outer', async (step) => {
        const { key, number, signal, chain, ...rest } = { ...step }
        const inner = await rest.step('inner', (within) => within.key)
        return {
          key,
          number,
          aborted: signal.aborted,
          chain: chain.length,
          inner,
          named: Object.keys(rest).sort(),
        }
      }),
    )
    expect(value).toMatchObject({ number: 1, aborted: false, chain: 2 })
    expect(value.named).toEqual(['call', 'epoch', 'sleep', 'sleepUntil', 'step'])
    expect([value.key, value.inner].map((key) => key.slice(key.lastIndexOf('/')))).toEqual(['/1', '/1.1'])
  })
})
