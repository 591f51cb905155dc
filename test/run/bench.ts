/** What the tests of runs work on: a memory store in virtual time, and workers on it that can be stopped for good. */
import { createRuns, type Run, type Runs, type RunsOptions } from '../../src/guards/run/index.js'
import { createIbid, type Ibid, type IbidError } from '../../src/index.js'
import type { Store } from '../../src/store.js'
import { memoryStore } from '../../src/stores/memory/index.js'
import { type VirtualTime, virtualTime } from '../../src/testing/virtual-time.js'

export interface Worker {
  readonly ibid: Ibid
  readonly runs: Runs
  /** No timer of it fires any more: as if its process was gone. */
  stop(): void
}

export interface Bench {
  readonly time: VirtualTime
  readonly store: Store
  worker(options?: Partial<RunsOptions>): Worker
}

export function bench(startMs?: number): Bench {
  const time = virtualTime(startMs)
  const store: Store = memoryStore({ clock: time.clock })
  return {
    time,
    store,
    worker(options = {}) {
      const { timers, stop } = time.worker()
      const ibid = createIbid({ store, tenant: 'acme', housekeeping: false, timers })
      const clock = (): number => time.clock.now()
      return { ibid, stop, runs: createRuns({ ibid, timers, clock, ...options }) }
    },
  }
}

/** What a call that must fail was told. */
export async function failure(call: Promise<unknown>): Promise<IbidError> {
  const outcome = await call.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  )
  if ('error' in outcome) return outcome.error as IbidError
  throw new TypeError(`it did not fail, it gave ${JSON.stringify(outcome.value)}`)
}

export interface Gate<T = void> {
  readonly passed: Promise<T>
  open(value: T): void
}

export function gate<T = void>(): Gate<T> {
  let resolved: ((value: T) => void) | undefined
  const passed = new Promise<T>((resolve) => {
    resolved = resolve
  })
  return { passed, open: (value) => resolved?.(value) }
}

export const TRIGGER = { agent: 'billing', key: 'evt_1', trigger: 7 }
export const LEASE = { policy: { lease: '1s' } } as const

/** A worker that dies in the middle of `body`; then the run's lease is over. */
export async function dieIn({ worker, time }: Bench, body: (run: Run) => Promise<unknown>): Promise<void> {
  const dead = worker(LEASE)
  void dead.runs.start(TRIGGER, body)
  await time.pass(10)
  dead.stop()
  await time.pass(1_500)
}

export const forever = (): Promise<never> => new Promise(() => {})
