/** The time of an attempt, on a loop that is too busy to fire its timer when it is due. */
import { expect, test } from 'vitest'
import { createTimeLimit, type TimeLimit } from '../../src/guards/run/time-limit.js'
import { failure, gate } from './bench.js'

/** A limit of 100 ms, and 120 ms that have passed without a turn of the loop. */
function late(): TimeLimit {
  let elapsedMs = 0
  const timers = { elapsedMs: () => elapsedMs, after: () => () => undefined }
  const limit = createTimeLimit(timers, 100, () => new RangeError('time is up'))
  elapsedMs = 120
  return limit
}

test('[R14] a sleep that begins when the time is up, before its timer fires, does not undo that', async () => {
  const limit = late()
  const { passed, open } = gate()
  const slept = limit.asleep(passed)
  open()
  await slept
  expect(await failure(Promise.race([limit.up, Promise.resolve().then(() => 'never')]))).toMatchObject({
    message: 'time is up',
  })
})

test('what ends after its attempt says nothing', async () => {
  const limit = late()
  const { passed, open } = gate()
  const slept = limit.asleep(passed)
  limit.end()
  open()
  await slept
  expect(await Promise.race([limit.up, Promise.resolve().then(() => 'never')])).toBe('never')
})
