/** Places: what stands at one is not taken for what stands at another, nor put there by an attempt that is over. */
import { expect, test } from 'vitest'
import { bench, TRIGGER } from './bench.js'

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
