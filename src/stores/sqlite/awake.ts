/**
 * A thread that waits asleep needs tens of microseconds to wake up: as long as half a commit. While an answer is
 * about to come, the event loop is kept turning instead, for a fraction of a millisecond, and goes on serving whatever
 * else comes in. It has to pay: a wait that was in vain, because the disk is slow or the processors are busy, is
 * followed by a rest, and each in a row by a longer one.
 */
import { availableParallelism } from 'node:os'

export interface Awake {
  /** Something is about to come. */
  expect(): void
  /** It has come. */
  came(): void
}

const FIRST_REST_MS = 5
const LONGEST_REST_MS = 2_000

export function stayAwake(windowMs: number): Awake {
  let turning = false
  let expecting = false
  let endMs = 0
  let restMs = availableParallelism() > 1 ? FIRST_REST_MS : Number.POSITIVE_INFINITY
  let restedMs = restMs === FIRST_REST_MS ? 0 : restMs

  function turn(): void {
    const nowMs = performance.now()
    turning = expecting && nowMs < endMs
    if (turning) {
      setImmediate(turn)
    } else if (expecting) {
      expecting = false
      restedMs = nowMs + restMs
      restMs = Math.min(restMs * 2, LONGEST_REST_MS)
    }
  }

  return {
    expect() {
      const nowMs = performance.now()
      if (nowMs < restedMs) return
      expecting = true
      endMs = nowMs + windowMs
      if (turning) return
      turning = true
      setImmediate(turn)
    },
    came() {
      if (!expecting) return
      expecting = false
      if (performance.now() < endMs) restMs = FIRST_REST_MS
    },
  }
}
