/** Waiting that can be cut short. Tests and simulations put virtual timers in the place of the real ones. */
import type { IbidOptions } from '../../ibid.js'

export { realTimers } from '../../ibid.js'

export type Timers = NonNullable<IbidOptions['timers']>

/** Longer waits are made of several. */
const LONGEST_MS = 2_000_000_000

/** Rejects with the signal's reason when it aborts first. */
export function pause(timers: Timers, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(signal.reason as Error)
      return
    }
    const disarm = timers.after(Math.min(ms, LONGEST_MS), () => {
      signal.removeEventListener('abort', cut)
      resolve()
    })
    function cut(): void {
      disarm()
      reject(signal.reason as Error)
    }
    signal.addEventListener('abort', cut, { once: true })
  })
}

export interface Droppable extends Timers {
  /** Disarms all of them, and any that come later: what waits for one waits for ever. */
  drop(): void
}

export function droppable(timers: Timers): Droppable {
  const armed = new Set<() => void>()
  let isDropped = false
  return {
    elapsedMs: () => timers.elapsedMs(),
    after(ms, fn, kind) {
      if (isDropped) return () => undefined
      const disarm = timers.after(
        ms,
        () => {
          armed.delete(disarm)
          fn()
        },
        kind,
      )
      armed.add(disarm)
      return () => {
        armed.delete(disarm)
        disarm()
      }
    },
    drop() {
      isDropped = true
      for (const disarm of armed) disarm()
    },
  }
}
