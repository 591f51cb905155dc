/** What the tests of runs work on: a memory store in virtual time, and workers on it that can be stopped for good. */
import {
  createRuns,
  type Run,
  type Runs,
  type RunsOptions,
  type Timeline,
} from '../../src/guards/run/index.js'
import { createIbid, type Ibid, type IbidError } from '../../src/index.js'
import type { Store } from '../../src/store.js'
import { memoryStore } from '../../src/stores/memory/index.js'
import { type VirtualTime, virtualTime } from '../../src/testing/virtual-time.js'

export interface Worker {
  readonly ibid: Ibid
  readonly runs: Runs
  /** No timer of it fires any more: as if its process was gone. */
  stop(): void
  /** None fires until it resumes: as if its process was suspended. */
  pause(): void
  resume(): void
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
      const { timers, ...life } = time.worker()
      const ibid = createIbid({ store, tenant: 'acme', housekeeping: false, timers })
      const clock = (): number => time.clock.now()
      return { ibid, ...life, runs: createRuns({ ibid, timers, clock, ...options }) }
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
export const WHO = { by: 'ann', why: 'the customer changed her mind' }
export const LEASE = { policy: { lease: '1s' } } as const

/** A worker that dies in the middle of `body`; then the run's lease is over. */
export async function dieIn({ worker, time }: Bench, body: (run: Run) => Promise<unknown>): Promise<void> {
  const dead = worker(LEASE)
  void dead.runs.start(TRIGGER, body)
  await time.pass(10)
  dead.stop()
  await time.pass(1_500)
}

/** A chain as depth, kind of scope and name. */
export function outlineOf({ chain }: Timeline): readonly unknown[] {
  return chain.map(({ scope, depth, name }) => [depth, scope.split(':')[0], name])
}

/** From a webhook through a queue to a run that looks something up, then refunds by a tool. */
export const REFUND_OUTLINE = [
  [0, 'hook', undefined],
  [1, 'queue', undefined],
  [2, 'trigger', undefined],
  [2, 'run', undefined],
  [3, 'step', 'look up'],
  [3, 'step', 'refund'],
  [4, 'step', 'call issue_refund'],
  [5, 'tool', undefined],
]

export const forever = (): Promise<never> => new Promise(() => {})
