/**
 * Those who act in a trace, as real engines on one store in virtual time: workers with their calls, a sweeper, a
 * person. An effect and a check stand where they are until the trace says how they end.
 */
import { IbidError, NotExecuted, OutcomeUnknown, Rejected } from '../../src/core/errors.js'
import type { CheckResult, Policy } from '../../src/core/policy.js'
import { createIbid, type Ibid } from '../../src/index.js'
import type { Store } from '../../src/store.js'
import { type Seen, seen, WHERE } from '../engine/bench.js'
import type { VirtualTime } from '../../src/testing/virtual-time.js'
import type { Gates } from '../proof/gates.js'
import type { Trace } from '../../scripts/model/traces.mjs'
import { type Gated, gatedStore } from './gated-store.js'
import { tokenText } from './token.js'

export const LEASE_MS = 10_000_000
export const WINDOW_MS = 1_000_000_000
/** Never reached: the trace says when an effect times out. */
const TIMEOUT_MS = 100_000_000_000

export interface Ending {
  resolve(value: unknown): void
  reject(error: unknown): void
}

export interface ModelCall {
  readonly now: () => Seen<{ replayed: boolean }>
  /** Effects that were started, and checks that were asked, and have not ended yet. */
  readonly effects: Ending[]
  readonly checks: ((answer: CheckResult<unknown>) => void)[]
  /** How often the effect was started. */
  started: number
}

export interface Actor extends Gated {
  readonly ibid: Ibid
  readonly stop: () => void
}

export interface Actors {
  actor(who: number): Actor
  call(token: number): ModelCall | undefined
  begin(worker: number, token: number): void
}

export function createActors(
  trace: Trace,
  store: Store,
  gates: Gates,
  time: VirtualTime,
  byTimer: () => boolean,
): Actors {
  const actors = new Map<number, Actor>()
  const calls = new Map<number, ModelCall>()
  const tokens = new Map<number, { readonly of: number; lives: number }>()

  function actor(who: number): Actor {
    let one = actors.get(who)
    if (!one) {
      const { timers, stop } = time.worker()
      const gated = gatedStore(store, gates, who, byTimer)
      const newToken = (): string => {
        const token = tokens.get(who)
        return token ? tokenText(token.of, token.lives++) : ''
      }
      const ibid = createIbid({ store: gated.store, timers, newToken, housekeeping: false, cache: false })
      one = { ...gated, ibid, stop }
      actors.set(who, one)
    }
    return one
  }

  return {
    actor,
    call: (token) => calls.get(token),
    begin(worker, token) {
      tokens.set(worker, { of: token, lives: 0 })
      const effects: Ending[] = []
      const checks: ((answer: CheckResult<unknown>) => void)[] = []
      const check = (): Promise<CheckResult<unknown>> =>
        new Promise((resolve) => {
          checks.push(resolve)
        })
      const policy: Policy = {
        lease: LEASE_MS,
        window: WINDOW_MS,
        timeout: TIMEOUT_MS,
        wait: 0,
        maxAttempts: trace.maxAttempts,
        recovery: trace.policy === 'check' ? { check } : trace.policy,
      }
      const effect = (): Promise<unknown> => {
        call.started++
        return new Promise((resolve, reject) => {
          effects.push({ resolve, reject })
        })
      }
      const ended = seen(actor(worker).ibid.once(WHERE, effect, policy))
      const call: ModelCall = { now: () => ended.now, effects, checks, started: 0 }
      calls.set(token, call)
    },
  }
}

/** What an effect throws when the model says that it ended so. */
export function errorOf(how: string): unknown {
  switch (how) {
    case 'REJECTED':
      return new Rejected('the downstream refused it')
    case 'NOTEXEC':
      return new NotExecuted('it was not sent')
    case 'DOUBT':
      return new OutcomeUnknown('the downstream does not say')
    case 'TIMEOUT':
      return new IbidError('no answer in time', {
        code: 'UPSTREAM_TIMEOUT',
        retriable: false,
        action: 'wait',
      })
    default:
      return new TypeError('the connection broke')
  }
}

export function answerOf(how: string): CheckResult<unknown> {
  // What a check finds is what a person would say, too: the model has one value for what was done.
  if (how === 'FOUND') return { found: true, value: 'done' }
  return how === 'NOTFOUND' ? { found: false } : { found: 'unclear' }
}
