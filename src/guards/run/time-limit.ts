/**
 * The time that one attempt at a run may take. It stands still while the run only sleeps: nothing of it runs then, so
 * nothing of it can hang, and the sleep has an end that is written down. A step that runs beside a sleep is counted.
 */
import type { Timers } from './timers.js'

export interface TimeLimit {
  /** Rejects with what `error` made when the time is up. */
  readonly up: Promise<never>
  asleep<T>(sleep: Promise<T>): Promise<T>
  atWork<T>(step: () => Promise<T>): Promise<T>
  /** The attempt is over. */
  end(): void
}

export function createTimeLimit(timers: Timers, limitMs: number, error: () => Error): TimeLimit {
  let leftMs = limitMs
  let sleeping = 0
  let working = 0
  let ended = false
  let stopCounting: (() => void) | undefined
  let fail: ((error: Error) => void) | undefined
  const up = new Promise<never>((_, reject) => {
    fail = reject
  })
  // Whoever does not wait for it any more when it comes is not told.
  up.catch(() => undefined)

  function count(): void {
    const sinceMs = timers.elapsedMs()
    const disarm = timers.after(leftMs, look, 'background')
    stopCounting = () => {
      leftMs -= timers.elapsedMs() - sinceMs
      stopCounting = undefined
      disarm()
    }
  }

  /** Timers cut long waits short: what is left then is waited for again. */
  function look(): void {
    stopCounting?.()
    goOn()
  }

  /** A sleep may have begun when the time was up and its timer, on a busy loop, had not fired yet. */
  function goOn(): void {
    if (leftMs > 0) count()
    else fail?.(error())
  }

  function changed(): void {
    if (ended) return
    if (sleeping > 0 && working === 0) stopCounting?.()
    else if (!stopCounting) goOn()
  }

  count()
  return {
    up,
    async asleep(sleep) {
      sleeping++
      changed()
      try {
        return await sleep
      } finally {
        sleeping--
        changed()
      }
    },
    async atWork(step) {
      working++
      changed()
      try {
        return await step()
      } finally {
        working--
        changed()
      }
    },
    end() {
      stopCounting?.()
      ended = true
    },
  }
}
