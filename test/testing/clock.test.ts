/** Clocks that a test moves. */
import { expect, it } from 'vitest'
import { createClock, stillClock } from '../../src/testing/index.js'

it('a running clock goes with the computer, plus an offset that another thread can read', () => {
  const clock = createClock()
  clock.advance(60_000)
  expect(clock.offset[0]).toBe(60_000)
  expect(clock.offset.buffer).toBeInstanceOf(SharedArrayBuffer)
  const before = Date.now()
  const now = clock.now()
  expect(now).toBeGreaterThanOrEqual(before + 60_000)
  expect(now).toBeLessThanOrEqual(Date.now() + 60_000)
  clock.set(1_000_000)
  expect(clock.now()).toBeGreaterThanOrEqual(1_000_000)
  expect(clock.now()).toBeLessThan(1_000_000 + 60_000)
})

it('a still clock stands until it is moved, in both directions', () => {
  const clock = stillClock(5_000)
  expect([clock.now(), clock.now()]).toEqual([5_000, 5_000])
  clock.advance(10)
  clock.advance(-3)
  expect(clock.now()).toBe(5_007)
  clock.set(1)
  expect(clock.now()).toBe(1)
})
