/**
 * The attempts that this process is running, so that a duplicate in the same process joins one promise instead
 * of asking the store again and again. Only attempts whose claim was won are here: their fingerprint is the stored one.
 */
import type { Receipt } from '../core/receipt.js'
import type { Settled } from './settled-cache.js'
import type { Timers } from './timers.js'

export interface Execution {
  readonly receipt: Receipt
  /** Tells everyone who joined: settled, or undefined when the store has to be asked what came of it. */
  end(settled: Settled | undefined): void
}

/** `late`: the deadline passed first. */
export type Joined =
  | { readonly kind: 'settled'; readonly settled: Settled }
  | { readonly kind: 'again' | 'late' }

export interface Executions {
  start(id: string, receipt: Receipt): Execution
  find(id: string): Receipt | undefined
  join(id: string, deadlineMs: number): Promise<Joined>
}

export function createExecutions(timers: Timers): Executions {
  const running = new Map<
    string,
    { readonly receipt: Receipt; readonly joined: Set<(how: Joined) => void> }
  >()

  return {
    start(id, receipt) {
      const one = { receipt, joined: new Set<(how: Joined) => void>() }
      running.set(id, one)
      return {
        receipt,
        end(settled) {
          if (running.get(id) === one) running.delete(id)
          const how: Joined = settled ? { kind: 'settled', settled } : { kind: 'again' }
          for (const tell of one.joined) tell(how)
        },
      }
    },

    find: (id) => running.get(id)?.receipt,

    join(id, deadlineMs) {
      const one = running.get(id)
      const leftMs = deadlineMs - timers.elapsedMs()
      if (!one) return Promise.resolve({ kind: 'again' })
      if (leftMs <= 0) return Promise.resolve({ kind: 'late' })
      return new Promise((resolve) => {
        const disarm = timers.after(leftMs, () => finish({ kind: 'late' }))
        function finish(how: Joined): void {
          disarm()
          one?.joined.delete(finish)
          resolve(how)
        }
        one.joined.add(finish)
      })
    },
  }
}
