/**
 * When to come back: those who were turned away stand in line in the order in which they first came, and each is told
 * how long it takes, by the runs seen so far, until its turn. Whoever comes back too early keeps its place.
 */
import type { Timers } from './timers.js'

export interface Line {
  /** Turned away: when to come back. */
  wait(key: string, slots: number): number
  admitted(key: string): void
  /** A run has ended after so long. */
  ended(afterMs: number): void
}

const FIRST_GUESS_MS = 1_000
const LEAST_MS = 50
const MOST_MS = 60_000
const WEIGHT = 0.2
/** Somebody who did not come back by three times the wait has gone. */
const PATIENCE = 3
const LONGEST_LINE = 10_000

export function createLine(timers: Timers): Line {
  /** In the order in which they first came; the value is when their place is given up. */
  const standing = new Map<string, number>()
  let meanMs = FIRST_GUESS_MS

  return {
    wait(key, slots) {
      const nowMs = timers.elapsedMs()
      let ahead = 0
      for (const [other, goneMs] of standing) {
        if (other === key) break
        if (goneMs < nowMs) standing.delete(other)
        else ahead++
      }
      const waitMs = Math.round(Math.min(Math.max((meanMs * (ahead + 1)) / slots, LEAST_MS), MOST_MS))
      if (standing.size < LONGEST_LINE || standing.has(key)) standing.set(key, nowMs + PATIENCE * waitMs)
      return waitMs
    },
    admitted(key) {
      standing.delete(key)
    },
    ended(afterMs) {
      meanMs += WEIGHT * (afterMs - meanMs)
    },
  }
}
