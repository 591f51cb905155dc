import { expect, it, vi } from 'vitest'
import { remember } from '../../src/core/remember.js'

const LIMITS = { most: 3, longest: 4 }

it('makes what it is asked for once', () => {
  const make = vi.fn<(text: string) => number>((text) => text.length)
  const sizeOf = remember(LIMITS, make)
  expect([sizeOf('a'), sizeOf('a'), sizeOf('bb'), sizeOf('a'), sizeOf('')]).toEqual([1, 1, 2, 1, 0])
  expect(make.mock.calls.flat()).toEqual(['a', 'bb', ''])
  expect([sizeOf(''), sizeOf('bb')]).toEqual([0, 2])
  expect(make).toHaveBeenCalledTimes(3)
})

it('remembers so many and no more, and makes the others anew', () => {
  const make = vi.fn<(text: string) => string>((text) => text)
  const same = remember(LIMITS, make)
  for (let round = 0; round < 2; round++)
    for (const text of ['a', 'b', 'c', 'd']) expect(same(text)).toBe(text)
  expect(make.mock.calls.flat()).toEqual(['a', 'b', 'c', 'd', 'd'])
})

it('remembers no text longer than it may be', () => {
  const make = vi.fn<(text: string) => string>((text) => text)
  const same = remember(LIMITS, make)
  for (let round = 0; round < 2; round++) for (const text of ['four', 'five5']) expect(same(text)).toBe(text)
  expect(make.mock.calls.flat()).toEqual(['four', 'five5', 'five5'])
})

it('remembers nothing of what came to nothing', () => {
  const make = vi.fn<(text: string) => number | undefined>((text) => (text === 'a' ? 1 : undefined))
  const read = remember({ most: 1, longest: 4 }, make)
  expect([read('no'), read('no'), read('a'), read('a')]).toEqual([undefined, undefined, 1, 1])
  expect(make).toHaveBeenCalledTimes(3)
})
