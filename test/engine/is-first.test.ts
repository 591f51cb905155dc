/** What an attempt is told of those before it: whether anything can have happened under its receipt. */
import { expect, test } from 'vitest'
import { NotExecuted } from '../../src/index.js'
import type { Attempt } from '../../src/core/policy.js'
import { bench, failure, INTENT, leaveBehind, within } from './bench.js'

const firstOf = ({ isFirst }: Attempt): boolean => isFirst

test('the attempt of a new receipt is the first', async () => {
  expect((await bench().open().once(INTENT, firstOf)).value).toBe(true)
})

test('[R9] the attempt after one that was given back is not, although it is number 1', async () => {
  const ibid = bench().open()
  await failure(
    ibid.once(INTENT, () => {
      throw new NotExecuted('closed')
    }),
  )
  const { value } = await ibid.once(INTENT, ({ isFirst, number }) => [isFirst, number])
  expect(value).toEqual([false, 1])
})

test('[R7] the attempt after a lapsed lease is not', async () => {
  const on = bench()
  const policy = { lease: '1s', recovery: 'retry' } as const
  await leaveBehind(on, policy)
  await on.time.pass(1_000)
  expect((await on.open().once(INTENT, firstOf, policy)).value).toBe(false)
})

test('[R11] the attempt after a window that has ended is the first again', async () => {
  const on = bench()
  const ibid = on.open()
  await ibid.once(INTENT, firstOf, { window: '1s' })
  await on.time.pass(2_000)
  expect((await ibid.once(INTENT, firstOf)).value).toBe(true)
})

test('a claim whose answer was lost is not taken for the first', async () => {
  const on = bench()
  on.tap.failAfter('claim')
  expect((await within(on, on.open().once(INTENT, firstOf), 1_000)).value).toBe(false)
})

test('[R10] the work of a transaction is told as well', async () => {
  const { value } = await bench()
    .open()
    .transact(INTENT, (_tx, attempt) => firstOf(attempt))
  expect(value).toBe(true)
})
