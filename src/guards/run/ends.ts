/** What may end an attempt at a run before its code does: a cancellation, a lost lease, its time, a closing worker. */
import type { IbidError } from '../../core/errors.js'
import { LazySignal } from '../../core/lazy-signal.js'
import type { Attempt } from '../../core/policy.js'
import { handedOver } from './refusals.js'
import { pause, type Timers } from './timers.js'

export interface Ends {
  /** Aborts with the reason that `stop` was given. */
  readonly stopped: Omit<LazySignal, 'abort'>
  stop(this: void, reason: unknown): void
  /** This worker closes: a run that sleeps, now or next, is left to another. */
  handOver(this: void): void
  /** Rejects when the attempt is stopped, or handed over. */
  sleep(timers: Timers, ms: number): Promise<void>
  /** What a sleep was cut short with because this worker closes, if one was. */
  leftBehind(): IbidError | undefined
}

export function createEnds(attempt: Attempt, runId: string): Ends {
  const stopped = new LazySignal()
  const waiting = new LazySignal()
  let leaving: IbidError | undefined
  let cut = false
  function stop(reason: unknown): void {
    stopped.abort(reason)
    waiting.abort(reason)
  }
  // Reading the signal of an attempt makes it: from here on it speaks up when the lease is lost.
  attempt.signal.addEventListener('abort', () => stop(attempt.signal.reason), { once: true })
  return {
    stopped,
    stop,
    handOver() {
      leaving ??= handedOver(runId)
      waiting.abort(leaving)
    },
    async sleep(timers, ms) {
      try {
        await pause(timers, ms, waiting.signal)
      } catch (reason) {
        cut ||= reason === leaving
        throw reason
      }
    },
    leftBehind: () => (cut ? leaving : undefined),
  }
}
