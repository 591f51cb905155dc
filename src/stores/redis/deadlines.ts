/** Calls that are waited for, each for its time and no longer; and one timer for all of them. */
import { fault, unavailable } from './faults.js'

interface Waiting {
  readonly endsMs: number
  readonly giveUp: () => void
}

/** What has not been answered by then counts as not answered; it may still be carried out. */
export type Within = <T>(ms: number, call: Promise<T>) => Promise<T>

export function createDeadlines(): Within {
  const waiting = new Set<Waiting>()
  let timer: NodeJS.Timeout | undefined
  let goesOffMs = Number.POSITIVE_INFINITY

  function arm(atMs: number, nowMs: number): void {
    clearTimeout(timer)
    goesOffMs = atMs
    timer = setTimeout(look, atMs - nowMs)
  }

  function wait(one: Waiting, nowMs: number): void {
    waiting.add(one)
    if (one.endsMs < goesOffMs) arm(one.endsMs, nowMs)
    else if (waiting.size === 1) timer?.ref()
  }

  /** A timer that nobody waits for is not disarmed, for a lone caller would arm it anew; but it holds no process. */
  function leave(one: Waiting): void {
    if (waiting.delete(one) && waiting.size === 0) timer?.unref()
  }

  function look(): void {
    goesOffMs = Number.POSITIVE_INFINITY
    const nowMs = performance.now()
    let nextMs = Number.POSITIVE_INFINITY
    for (const one of waiting) {
      if (one.endsMs <= nowMs) one.giveUp()
      else nextMs = Math.min(nextMs, one.endsMs)
    }
    if (waiting.size > 0) arm(nextMs, nowMs)
  }

  return (ms, call) =>
    new Promise((resolve, reject) => {
      const nowMs = performance.now()
      const one = {
        endsMs: nowMs + ms,
        giveUp() {
          leave(one)
          reject(unavailable(`no answer within ${ms} ms`))
        },
      }
      wait(one, nowMs)
      call.then(
        (answer) => {
          leave(one)
          resolve(answer)
        },
        (error: unknown) => {
          leave(one)
          reject(fault(error))
        },
      )
    })
}
