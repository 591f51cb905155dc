/** One timer for many who wait: it goes off at the earliest time that anybody asked for. */
import type { Timers } from './timers.js'

export interface Alarm {
  /** At this time of the engine's clock at the latest. */
  setFor(atMs: number): void
  stop(): void
}

export function createAlarm(timers: Timers, goOff: () => void): Alarm {
  let armed: { readonly atMs: number; readonly disarm: () => void } | undefined

  function stop(): void {
    armed?.disarm()
    armed = undefined
  }

  return {
    setFor(atMs) {
      if (armed && armed.atMs <= atMs) return
      stop()
      const disarm = timers.after(atMs - timers.elapsedMs(), () => {
        armed = undefined
        goOff()
      })
      armed = { atMs, disarm }
    },
    stop,
  }
}
