/** Places: what stands at one is not taken for what stands at another, nor put there by an attempt that is over. */
import { expect, test } from 'vitest'
import type { Run } from '../../src/guards/run/index.js'
import { Rejected } from '../../src/index.js'
import { bench, failure, gate, TRIGGER } from './bench.js'

test('[R45] a place by name is not the place of a step inside another one', async () => {
  const on = bench()
  const done: string[] = []
  await on.worker().runs.start(TRIGGER, async (run) => {
    for (const place of ['7', '7.1']) {
      const charge = (): number => done.push(place)
      await run.step('charge', (step) => step.step('charge', charge), { place, recovery: 'retry' })
    }
  })
  expect(done).toEqual(['7', '7.1'])
})

test.each([
  ['been refused', new Rejected('the card is stolen'), 'REJECTED'],
  ['failed, and is left to another worker', new RangeError('no answer'), undefined],
])('[R45] a branch that a run left behind takes no step when the run has %s', async (_how, thrown, code) => {
  const on = bench()
  const { passed, open } = gate()
  const done: unknown[] = []
  const body = async (run: Run): Promise<void> => {
    async function branch(): Promise<void> {
      await run.step('book', () => passed)
      await run.step('ship', () => done.push('ship'))
    }
    await Promise.all([branch().catch((error: unknown) => done.push(error)), Promise.reject(thrown)])
  }
  expect((await failure(on.worker().runs.start(TRIGGER, body))).code).toBe(code)
  open()
  await on.time.pass(10)
  expect(done).toMatchObject([{ code: 'RUN_OVER' }])
})
