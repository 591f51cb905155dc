import { expect, it } from 'vitest'
import { pageSize, statesOf } from '../../src/core/queries.js'
import { refusal } from '../key/refusal.js'

const HELD: never = 'held' as never

it('a page has from 1 to 1000 receipts, and 100 where nobody says', () => {
  expect([undefined, 1, 2, 999, 1_000].map((limit) => pageSize(limit))).toEqual([100, 1, 2, 999, 1_000])
})

it.each([0, -1, 1_001, 1.5, Number.NaN, '5'])('a page of %j is refused', (limit) => {
  expect(refusal(() => pageSize(limit as number))).toMatchObject({
    code: 'INVALID_INTENT',
    message: expect.stringContaining(`limit is ${String(limit)}`),
    action: 'give limit a whole number from 1 to 1000',
  })
})

it('states are one or several of those that there are, or all', () => {
  expect(statesOf({})).toBeUndefined()
  expect(statesOf({ state: 'unknown' })).toEqual(['unknown'])
  expect(statesOf({ state: ['pending', 'failed'] })).toEqual(['pending', 'failed'])
})

it('a state that there is not has no receipts, and is refused', () => {
  expect(refusal(() => statesOf({ state: ['pending', HELD] }))).toMatchObject({
    message: expect.stringContaining('state is "held"'),
    action: expect.stringContaining('what is held is unknown'),
  })
})
