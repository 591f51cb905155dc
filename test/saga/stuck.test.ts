/** Steps that a rollback cannot undo now: what they mean for the ones before them, and that each has a way out. */
import { beforeEach, expect, test } from 'vitest'
import { type Bench, bench } from './bench.js'

let at: Bench
beforeEach(() => {
  at = bench()
})

test('[R39] an undo whose time is up may still be running: the ones before it wait, and nobody has to be asked', async () => {
  const saga = at.saga()
  let finish: (() => void) | undefined
  const slow = at.step('charge', {
    undoPolicy: { recovery: 'retry', timeout: 30 },
    undo: (_result, { number }) => (number === 1 ? new Promise<void>((done) => (finish = done)) : undefined),
  })
  for (const step of [at.step('book'), slow]) await saga.step(step)
  expect(await saga.compensate()).toMatchObject({
    undone: [],
    stuck: [
      { step: 'charge', code: 'UPSTREAM_TIMEOUT', retriable: true },
      { step: 'book', code: 'NOT_TRIED', retriable: true },
    ],
  })
  finish?.()
  expect(await saga.compensate()).toMatchObject({
    complete: true,
    undone: [{ step: 'charge' }, { step: 'book' }],
  })
})
