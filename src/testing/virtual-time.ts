/**
 * One time for a store's clock and the engines' timers, which stands until a test lets it pass. `pass` fires every
 * timer at its own instant; `jump` is a computer that was asleep: all that is due fires late, and at once.
 */
import type { IbidOptions } from '../index.js'
import { stillClock, type TestClock } from './clock.js'

export type Timers = NonNullable<IbidOptions['timers']>

export interface VirtualTime {
  readonly clock: TestClock
  readonly timers: Timers
  /** Timers of their own, for one worker. */
  worker(options?: WorkerOptions): Worker
  pass(ms: number): Promise<void>
  jump(ms: number): Promise<void>
  /** Goes to the next timer and fires it; false when there is none. */
  next(): Promise<boolean>
  elapsedMs(): number
  /** How many timers wait. */
  readonly armed: number
  /** How many timers were ever set. */
  readonly set: number
}

export interface WorkerOptions {
  /** How fast its own clock runs: 2 counts two milliseconds where one has passed. Default 1. */
  readonly rate?: number
}

export interface Worker {
  readonly timers: Timers
  /** For good: none of its timers fires any more. */
  stop(): void
  /** None of its timers fires until `resume`; those that came due meanwhile fire then, late. */
  pause(): void
  resume(): void
}

interface Owner {
  stopped: boolean
  paused: boolean
  readonly rate: number
}

interface Timer {
  readonly atMs: number
  readonly fn: () => void
  readonly owner: Owner
}

/** Everything that needs no timer has happened when this resolves: promises, ticks, what they started. */
export function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}

/** Instants that a double holds exactly beside the milliseconds since 1970, and never too early. */
function onGrid(ms: number): number {
  return Math.ceil(ms * 1_024) / 1_024
}

/** More timers in one pass than any test sets on purpose: something spins. */
const TOO_MANY = 50_000

export function virtualTime(atMs?: number): VirtualTime {
  const clock = stillClock(atMs)
  const startMs = clock.now()
  const waiting = new Set<Timer>()
  let set = 0
  const elapsedMs = (): number => clock.now() - startMs

  function timersOf(owner: Owner): Timers {
    return {
      elapsedMs: () => elapsedMs() * owner.rate,
      after(ms, fn) {
        const timer = { atMs: onGrid(elapsedMs() + Math.max(ms, 0) / owner.rate), fn, owner }
        set++
        waiting.add(timer)
        return () => void waiting.delete(timer)
      },
    }
  }

  function earliest(byMs: number): Timer | undefined {
    let first: Timer | undefined
    for (const timer of waiting) {
      if (timer.owner.stopped) waiting.delete(timer)
      else if (timer.owner.paused) continue
      else if (timer.atMs <= byMs && (!first || timer.atMs < first.atMs)) first = timer
    }
    return first
  }

  function fire(timer: Timer): void {
    waiting.delete(timer)
    timer.fn()
  }

  async function pass(ms: number): Promise<void> {
    const untilMs = elapsedMs() + ms
    let fired = 0
    await turn()
    for (let timer = earliest(untilMs); timer; timer = earliest(untilMs)) {
      if (++fired > TOO_MANY) throw new RangeError(`${TOO_MANY} timers in ${ms} ms: something spins`)
      clock.set(startMs + Math.max(timer.atMs, elapsedMs()))
      fire(timer)
      await turn()
    }
    clock.set(startMs + untilMs)
    await turn()
  }

  return {
    clock,
    timers: timersOf({ stopped: false, paused: false, rate: 1 }),
    worker({ rate = 1 } = {}) {
      const owner: Owner = { stopped: false, paused: false, rate }
      return {
        timers: timersOf(owner),
        stop: () => void (owner.stopped = true),
        pause: () => void (owner.paused = true),
        resume: () => void (owner.paused = false),
      }
    },
    pass,
    async jump(ms) {
      clock.advance(ms)
      await pass(0)
    },
    async next() {
      const timer = earliest(Number.POSITIVE_INFINITY)
      if (!timer) return false
      clock.set(startMs + Math.max(timer.atMs, elapsedMs()))
      fire(timer)
      await turn()
      return true
    },
    elapsedMs,
    get armed() {
      return waiting.size
    },
    get set() {
      return set
    },
  }
}
