/**
 * The engine's only source of elapsed time. It never makes an instant out of it: instants are the store's.
 * Tests and simulations put a virtual one in its place.
 */
import { performance } from 'node:perf_hooks'
import { LONGEST_TIMER_MS } from '../core/longest-timer.js'

export interface Timers {
  /** Milliseconds since some fixed moment; never goes backwards. */
  elapsedMs(): number
  /** Calls `fn` once, after `ms`. `background` timers do not keep the process alive. */
  after(ms: number, fn: () => void, background?: 'background'): () => void
}

export const realTimers: Timers = {
  elapsedMs: () => performance.now(),
  after(ms, fn, background) {
    const timer = setTimeout(fn, Math.min(Math.max(ms, 0), LONGEST_TIMER_MS))
    if (background) timer.unref()
    return () => clearTimeout(timer)
  },
}

export function pause(timers: Timers, ms: number): Promise<void> {
  return new Promise((resolve) => {
    timers.after(ms, resolve)
  })
}

/** What is done later in the background, as long as the engine is open. */
export interface Errands {
  after(ms: number, fn: () => void): void
  /** None is left, and none is taken any more. */
  stop(): void
}

export function createErrands(timers: Timers): Errands {
  const waiting = new Set<() => void>()
  let stopped = false
  return {
    after(ms, fn) {
      if (stopped) return
      const disarm = timers.after(
        ms,
        () => {
          waiting.delete(disarm)
          fn()
        },
        'background',
      )
      waiting.add(disarm)
    },
    stop() {
      stopped = true
      for (const disarm of waiting) disarm()
      waiting.clear()
    },
  }
}
