/**
 * Clocks that a test moves. `createClock` runs with the computer's clock plus an offset in shared memory, so that
 * a store in another thread can add the same offset. `stillClock` stands until it is moved: the same in every run.
 */
import type { Clock } from '../stores/memory/index.js'

export interface TestClock extends Clock {
  /** Forwards; backwards where `ms` is negative. */
  advance(ms: number): void
  set(nowMs: number): void
}

export interface RunningClock extends TestClock {
  /** One number in shared memory: the milliseconds to add to Date.now(). */
  readonly offset: Float64Array<SharedArrayBuffer>
}

export function createClock(offsetMs = 0): RunningClock {
  const offset = new Float64Array(new SharedArrayBuffer(Float64Array.BYTES_PER_ELEMENT))
  offset[0] = offsetMs
  return {
    offset,
    now: () => Date.now() + (offset[0] as number),
    advance(ms) {
      offset[0] = (offset[0] as number) + ms
    },
    set(nowMs) {
      offset[0] = nowMs - Date.now()
    },
  }
}

export function stillClock(startMs = Date.UTC(2030, 0, 1)): TestClock {
  let nowMs = startMs
  return {
    now: () => nowMs,
    advance(ms) {
      nowMs += ms
    },
    set(ms) {
      nowMs = ms
    },
  }
}
