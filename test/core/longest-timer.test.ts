import { expect, it } from 'vitest'
import { LONGEST_TIMER_MS } from '../../src/core/longest-timer.js'

it('a timer counts to it, and not one further: Node would fire at once', () => {
  expect(LONGEST_TIMER_MS).toBe(2_147_483_647)
})
