import { expect, it } from 'vitest'
import { within } from '../../src/core/within.js'
import { refusal } from '../key/refusal.js'

it.each([1, 2.5, 10])('%s is a number from 1 to 10', (given) => {
  expect(within(given, 'lanes', 1, 10)).toBe(given)
})

it.each([0.9, 10.1, -1, Number.NaN, Number.POSITIVE_INFINITY, '5', null, undefined, 5n])(
  '%s is none',
  (given) => {
    const error = refusal(() => within(given as number, 'lanes', 1, 10))
    expect(error.message).toContain(`options.lanes is ${String(given)}`)
    expect(error).toMatchObject({ code: 'INVALID_INTENT', action: 'give lanes a number from 1 to 10' })
  },
)
