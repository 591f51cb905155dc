/** What counts as a promise: whatever has a `then` to call, of whichever library. */
// oxlint-disable unicorn/no-thenable -- that is what is asked about here
import { expect, it } from 'vitest'
import { isPromised } from '../../src/core/promised.js'

const callable = Object.assign(() => 1, { then: () => 2 })

it.each<[string, unknown, boolean]>([
  ['a promise', Promise.resolve(1), true],
  ['an object with a then', { then: () => 1 }, true],
  ['a function with a then', callable, true],
  ['an object with a then that is no function', { then: 1 }, false],
  ['an object without one', {}, false],
  ['a function without one', () => 1, false],
  ['nothing', undefined, false],
  ['null', null, false],
  ['a text', 'then', false],
])('%s', (_what, value, is) => {
  expect(isPromised(value)).toBe(is)
})

it('what cannot be read says so itself', () => {
  const broken = {
    get then(): never {
      throw new Error('no')
    },
  }
  expect(() => isPromised(broken)).toThrow('no')
})
