/** What the tests of the engine work on: a memory store in virtual time, as many engines on it as they like. */
import { createIbid, type Ibid, type IbidOptions, type Policy } from '../../src/index.js'
import type { Attempt, CheckResult } from '../../src/core/policy.js'
import type { Store } from '../../src/store.js'
import { type MemoryTx, memoryStore } from '../../src/stores/memory/index.js'
import { type Tap, tapped } from './tapped-store.js'
import { turn, type VirtualTime, virtualTime } from '../../src/testing/virtual-time.js'

export interface Bench {
  readonly time: VirtualTime
  readonly store: Store<MemoryTx>
  readonly tap: Tap
  /** The store behind the tap. */
  readonly inner: Store<MemoryTx>
  /** An engine on the store. Housekeeping is off: tests sweep when they mean to. */
  open(options?: Partial<IbidOptions<MemoryTx>>): Ibid<MemoryTx>
  /** A worker whose timers stop when it does: as if its process was gone or paused. */
  worker(options?: Partial<IbidOptions<MemoryTx>>): { readonly ibid: Ibid<MemoryTx>; stop(): void }
}

export const WHERE = { tenant: 'acme', scope: 'tool:refund', key: 'wf_1:step_1' }
export const INTENT = { ...WHERE, payload: { payment: 'pay_1', amount: 10 } }

export function bench(facts: Partial<Store<MemoryTx>> = {}): Bench {
  const time = virtualTime()
  const inner = memoryStore({ clock: time.clock })
  const { store, tap } = tapped(inner, facts)
  function open(options: Partial<IbidOptions<MemoryTx>> = {}): Ibid<MemoryTx> {
    return createIbid({ store, housekeeping: false, timers: time.timers, ...options })
  }
  return {
    time,
    store,
    tap,
    inner,
    open,
    worker(options) {
      const { timers, stop } = time.worker()
      return { ibid: open({ ...options, timers }), stop }
    },
  }
}

export type Transact = NonNullable<Store<MemoryTx>['transact']>

/** The bench's store, whose transactions go as the test has it. */
export function committing(on: Bench, how: (transact: Transact) => Transact): Store<MemoryTx> {
  return { ...on.store, transact: how(on.store.transact as Transact) }
}

/** An effect that a test ends by hand; counts how often it was started. */
export interface Manual<T> {
  readonly effect: (attempt: Attempt) => Promise<T>
  readonly attempts: Attempt[]
  succeed(value: T, at?: number): Promise<void>
  fail(error: unknown, at?: number): Promise<void>
}

export function manual<T = unknown>(): Manual<T> {
  const attempts: Attempt[] = []
  const ends: { resolve: (value: T) => void; reject: (error: unknown) => void }[] = []
  return {
    attempts,
    effect: (attempt) =>
      new Promise((resolve, reject) => {
        attempts.push(attempt)
        ends.push({ resolve, reject })
      }),
    async succeed(value, at = ends.length - 1) {
      ends[at]?.resolve(value)
      await turn()
    },
    async fail(error, at = ends.length - 1) {
      ends[at]?.reject(error)
      await turn()
    },
  }
}

/** What became of a promise, seen without waiting for it. */
export type Seen<T> = { state: 'waiting' } | { state: 'done'; value: T } | { state: 'failed'; error: Failure }
export interface Failure extends Error {
  readonly code?: string
  readonly retriable?: boolean
  readonly retryAfterMs?: number
  readonly action?: string
  readonly replayed?: boolean
  readonly data?: unknown
  readonly receipt?: { readonly state: string; readonly attempt: number }
}

export function seen<T>(promise: Promise<T>): { now: Seen<T> } {
  const holder: { now: Seen<T> } = { now: { state: 'waiting' } }
  promise.then(
    (value) => (holder.now = { state: 'done', value }),
    (error: Failure) => (holder.now = { state: 'failed', error }),
  )
  return holder
}

/** The error that a promise ended with. */
export async function failure(promise: Promise<unknown>): Promise<Failure> {
  try {
    await promise
  } catch (error) {
    return error as Failure
  }
  throw new TypeError('it was expected to fail, and did not')
}

/** How a promise ends when time passes: the waits and pauses of the engine are over by then. */
export async function within<T>(on: Bench, promise: Promise<T>, ms = 1): Promise<T> {
  const ended = promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  )
  await on.time.pass(ms)
  const how = await ended
  if ('error' in how) throw how.error
  return how.value
}

/** A worker claims the key and is never heard of again: its lease lapses. Returns how often its effect began. */
export async function leaveBehind(on: Bench, policy: Policy, intent = INTENT): Promise<void> {
  const { ibid, stop } = on.worker()
  void ibid.once(intent, () => new Promise(() => {}), policy).catch(() => undefined)
  await turn()
  stop()
}

/** A check that answers what it is told, and counts. */
export function checking(answer: () => CheckResult<unknown>): { policy: Policy<never>; asked: number[] } {
  const asked: number[] = []
  const check = (attempt: { number: number }): CheckResult<never> => {
    asked.push(attempt.number)
    return answer() as CheckResult<never>
  }
  return { policy: { lease: '1s', maxAttempts: 3, recovery: { check } }, asked }
}

export { turn }
