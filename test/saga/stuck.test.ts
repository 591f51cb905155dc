/** Steps that a rollback cannot undo now: what they mean for the ones before them, and that each has a way out. */
import { beforeEach, expect, test } from 'vitest'
import type { Where } from '../../src/ibid.js'
import { type Bench, bench } from './bench.js'

let at: Bench
beforeEach(() => {
  at = bench()
})

test('[R39] an undo whose time is up may still run: the ones before it wait, and nobody is asked', async () => {
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

test('[R14, R39] a step whose result was not kept is held for a person, who can say that it was undone', async () => {
  const charge = at.step('charge', { do: () => 'x'.repeat(1_000_001) })
  await at.saga().step(charge)
  const saga = at.saga({ steps: [charge] })
  for (let again = 0; again < 2; again++) {
    const { stuck } = await saga.compensate()
    expect(stuck).toMatchObject([{ step: 'charge', code: 'OUTCOME_UNKNOWN', undo: { state: 'unknown' } }])
    expect(stuck[0]?.why).toMatch(/^it was not undone/)
  }
  const { stuck } = await saga.compensate()
  const undo = stuck[0]?.undo as Where
  await at.open().resolve(undo, { as: 'succeeded' }, { by: 'ann', why: 'refunded by hand' })
  expect(await saga.compensate()).toMatchObject({ complete: true, undone: [{ step: 'charge' }] })
  expect(at.effects).toEqual([])
})
