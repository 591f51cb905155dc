/**
 * A scenario is data: keys, processes and a list of steps (what is asked for, and what goes wrong). Everything else
 * follows from it, so that a step can be left out and the rest be run again. One seed makes one scenario.
 */
import type { FaultKind } from '../faulty-store.js'
import type { Verb } from '../around.js'
import { random } from '../random.js'

export type PolicyName = 'hold' | 'retry' | 'check' | 'transact'

/** Each key keeps to one policy, so that its promise can be held against it. */
export interface KeyPlan {
  readonly name: string
  readonly policy: PolicyName
  readonly leaseMs: number
  readonly windowMs: number
  readonly timeoutMs: number
  readonly maxAttempts: number
  /** The downstream refuses an epoch older than one it has seen. */
  readonly fences: boolean
}

export interface ProcessPlan {
  readonly name: string
  /** How fast its own clock runs, and how far it is off the store's. */
  readonly rate: number
  readonly skewMs: number
  /** What a message from or to the store usually takes; 0: each takes a millisecond, always. */
  readonly latencyMs: number
  readonly caches: boolean
}

/** `lands later`: the effect fails as far as its caller can see, and happens all the same. */
export const ENDS = [
  'value',
  'rejected',
  'not executed',
  'unknown',
  'throws',
  'throws after',
  'lands later',
  'hangs',
] as const
export type End = (typeof ENDS)[number]

interface At {
  readonly process: string
  readonly atMs: number
}

export interface CallStep extends At {
  readonly kind: 'call'
  /** Through `claim` and `settle`, as work that is done elsewhere, and not through `once`. */
  readonly remote: boolean
  readonly key: string
  readonly payload: number
  readonly end: End
  readonly effectMs: number
  readonly waitMs: number
  /** How often the caller comes back after an error that says it may. */
  readonly retries: number
  /** Before it does anything, the effect looks whether its attempt was ended. */
  readonly heeds: boolean
}

/**
 * `call` counts the calls of a verb about a key that a process makes. A crash or a pause comes with the first event
 * (an answer, a timer) that reaches the process at that time or later, after `skip` others.
 */
export type Step =
  | CallStep
  | (At & { readonly kind: 'sweep' })
  | (At & { readonly kind: 'resolve'; readonly key: string; readonly as: 'succeeded' | 'released' })
  | {
      readonly kind: 'fault'
      readonly process: string
      readonly verb: Verb
      /** Where the verb names keys. */
      readonly key?: string
      readonly call: number
      readonly fault: FaultKind
      readonly ms: number
    }
  | (At & {
      readonly kind: 'crash'
      readonly skip: number
      readonly restartMs: number
      /** What it had sent and the store has not done yet is lost with it. */
      readonly losesRequests: boolean
    })
  | (At & { readonly kind: 'pause'; readonly skip: number; readonly ms: number })
  | (At & { readonly kind: 'outage'; readonly ms: number })
  /** The store's clock is set: forwards, or backwards where `ms` is negative. */
  | { readonly kind: 'clock'; readonly atMs: number; readonly ms: number }

export interface Scenario {
  readonly seed: number
  readonly keys: readonly KeyPlan[]
  readonly processes: readonly ProcessPlan[]
  readonly steps: readonly Step[]
}

const POLICIES: readonly PolicyName[] = ['hold', 'retry', 'check', 'transact']
const LEASES_MS = [40, 100, 300, 1_000]
const LONG_WINDOW_MS = 3_600_000
const FAULTS: readonly FaultKind[] = ['refused', 'lost', 'lost', 'half', 'delayed', 'late']
/** Up to which call faults are planned: later ones go well, so that every scenario ends. */
const KEYED: readonly (readonly [Verb, number])[] = [
  ['claim', 40],
  ['swap', 60],
  ['get', 40],
]
const OTHERS: readonly (readonly [Verb, number])[] = [
  ['transact', 12],
  ['scan', 4],
  ['purge', 4],
  ['record', 3],
  ['check', 1],
]

export function makeScenario(seed: number): Scenario {
  const { next } = random(seed)
  const below = (most: number): number => Math.floor(next() * most)
  const pick = <T>(from: readonly T[]): T => from[below(from.length)] as T
  const chance = (share: number): boolean => next() < share

  const keys = Array.from({ length: pick([1, 2, 6, 24]) }, (_, n): KeyPlan => {
    const leaseMs = pick(LEASES_MS)
    return {
      name: `k${n + 1}`,
      policy: pick(POLICIES),
      leaseMs,
      windowMs: chance(0.75) ? LONG_WINDOW_MS : 200 + below(3_000),
      timeoutMs: leaseMs * (1 + below(8)),
      maxAttempts: 1 + below(4),
      fences: chance(0.5),
    }
  })
  const processes = Array.from({ length: 2 + below(4) }, (_, n): ProcessPlan => {
    return {
      name: `p${n + 1}`,
      rate: chance(0.5) ? 1 : 0.625 + below(9) / 8,
      skewMs: chance(0.5) ? 0 : below(8_000) - 4_000,
      latencyMs: pick([0, 1, 5, 20]),
      caches: chance(0.5),
    }
  })
  const spanMs = pick([50, 500, 2_000, 8_000])
  const share = pick([0, 0.05, 0.15, 0.3, 0.5])
  const steps: Step[] = []
  const process = (): string => pick(processes).name
  const longest = Math.max(...keys.map(({ leaseMs }) => leaseMs))

  for (let calls = 6 + keys.length * (2 + below(6)); calls > 0; calls--) {
    const key = pick(keys)
    steps.push({
      kind: 'call',
      process: process(),
      atMs: below(spanMs),
      key: key.name,
      remote: key.policy !== 'check' && key.policy !== 'transact' && chance(0.3),
      payload: chance(0.96) ? 0 : 1,
      end: chance(0.5) ? 'value' : pick(ENDS),
      effectMs: chance(0.4) ? 0 : below(pick([10, key.leaseMs, 4 * key.leaseMs])),
      waitMs: pick([0, key.leaseMs, 3_000]),
      retries: below(4),
      heeds: chance(0.2),
    })
  }
  for (let n = below(5); n > 0; n--) steps.push({ kind: 'sweep', process: process(), atMs: below(spanMs) })
  for (let n = below(4); n > 0; n--) {
    const as = chance(0.5) ? 'succeeded' : 'released'
    steps.push({ kind: 'resolve', process: process(), atMs: below(spanMs), key: pick(keys).name, as })
  }
  if (share === 0) return { seed, keys, processes, steps }

  function failSome(process: string, verb: Verb, calls: number, key?: string): void {
    for (let call = 1; call <= calls; call++) {
      if (!chance(share)) continue
      const ms = below(pick([10, longest, 3 * longest]))
      const about = key === undefined ? {} : { key }
      steps.push({ kind: 'fault', process, verb, ...about, call, fault: pick(FAULTS), ms })
    }
  }
  for (const { name } of processes) {
    for (const { name: key } of keys)
      for (const [verb, calls] of KEYED) failSome(name, verb, Math.ceil(calls / (keys.length + 1)), key)
    for (const [verb, calls] of OTHERS) failSome(name, verb, calls)
    if (chance(0.3)) {
      // A claim that is made, and all that its caller hears of it is that the store does not answer.
      const [key, first] = [pick(keys).name, 1 + below(3)]
      for (const [at, fault] of (['lost', 'refused', 'refused'] as const).entries())
        steps.push({ kind: 'fault', process: name, verb: 'claim', key, call: first + at, fault, ms: 0 })
    }
    for (let n = below(3); n > 0; n--) {
      const restartMs = below(2 * longest)
      const when = { process: name, atMs: below(spanMs), skip: below(4) }
      steps.push({ kind: 'crash', ...when, restartMs, losesRequests: chance(0.5) })
    }
    for (let n = below(4); n > 0; n--) {
      const when = { process: name, atMs: below(spanMs), skip: below(4) }
      steps.push({ kind: 'pause', ...when, ms: below(4 * longest) })
    }
    if (chance(0.2))
      steps.push({ kind: 'outage', process: name, atMs: below(spanMs), ms: below(3 * longest) })
  }
  if (chance(0.2)) steps.push({ kind: 'clock', atMs: below(spanMs), ms: below(8 * longest) - 4 * longest })
  return { seed, keys, processes, steps }
}
