/**
 * The attempts that this process is running, so that a duplicate in the same process joins one promise instead
 * of asking the store again and again. Only attempts whose claim was won are here: their fingerprint is the stored one.
 */
import type { Receipt } from '../core/receipt.js'
import { UnderWay } from '../core/under-way.js'
import type { Settled } from './settled-cache.js'
import type { Timers } from './timers.js'

export interface Execution {
  readonly receipt: Receipt
  /** Tells everyone who joined what came of it; undefined: the store has to be asked. Only asked where somebody did. */
  end(outcome: () => Settled | undefined): void
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
  const running = new UnderWay<string, Running>()

  return {
    start: (id, receipt) => new Running(running, id, receipt),

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

type Tell = (how: Joined) => void

class Running implements Execution {
  readonly receipt: Receipt
  readonly #running: UnderWay<string, Running>
  readonly #id: string
  #joined: Set<Tell> | undefined

  constructor(running: UnderWay<string, Running>, id: string, receipt: Receipt) {
    this.receipt = receipt
    this.#running = running
    this.#id = id
    running.set(id, this)
  }

  get joined(): Set<Tell> {
    this.#joined ??= new Set()
    return this.#joined
  }

  end(outcome: () => Settled | undefined): void {
    this.#running.take(this.#id, this)
    if (this.#joined === undefined || this.#joined.size === 0) return
    const settled = outcome()
    const how: Joined = settled ? { kind: 'settled', settled } : { kind: 'again' }
    for (const tell of this.#joined) tell(how)
  }
}
