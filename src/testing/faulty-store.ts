/**
 * A store that fails the way real ones do, on purpose and on a plan: by verb, by count, by chance from a seed, or
 * all at once in an outage. The same plan over the same calls fails the same way again.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { IbidError } from '../core/errors.js'
import type { Store } from '../store.js'
import { around, type Surrounded, type Verb } from './around.js'
import { random } from './random.js'

/**
 * `refused`: not done, and rejected. `lost`: done, and rejected all the same: the acknowledgement was lost.
 * `half`: the first half of the batch is done, then rejected. `delayed`: done later. `late`: done at once, answered
 * later.
 */
export type FaultKind = 'refused' | 'lost' | 'half' | 'delayed' | 'late'

export interface Fault {
  readonly kind: FaultKind
  /** Default: every verb. */
  readonly verbs?: readonly Verb[]
  /** Which calls of a verb, counted from 1. Default: all. */
  readonly calls?: readonly number[] | ((call: number) => boolean)
  /** Of those, how many: 0 to 1. Default 1. */
  readonly probability?: number
  /** For `delayed` and `late`. Default 10. */
  readonly ms?: number
}

export interface FaultPlan {
  /** The first that applies is the one that happens; or which one, if any, happens to a call. */
  readonly faults?:
    | readonly Fault[]
    | ((call: Pick<Surrounded<unknown>, 'verb' | 'about'>) => Fault | undefined)
  readonly seed?: number
  /** How a delay passes. Default: in real time. */
  readonly pause?: (ms: number) => Promise<unknown>
}

export interface FaultyStore<Tx = unknown> extends Store<Tx> {
  /** From now on every call is refused, until `endOutage`. */
  startOutage(): void
  endOutage(): void
  /** How often a verb was called, and how many faults were injected. */
  calls(verb: Verb): number
  readonly injected: number
}

export function faultyStore<Tx>(inner: Store<Tx>, plan: FaultPlan = {}): FaultyStore<Tx> {
  const chance = random(plan.seed ?? 1)
  const pause = plan.pause ?? sleep
  const counts = new Map<Verb, number>()
  let injected = 0
  let isOut = false

  function choose({ verb, about }: Surrounded<unknown>, call: number): Fault | undefined {
    if (isOut) return { kind: 'refused' }
    if (typeof plan.faults === 'function') return plan.faults(about ? { verb, about } : { verb })
    return plan.faults?.find(
      ({ verbs, calls, probability }) =>
        (verbs === undefined || verbs.includes(verb)) &&
        (calls === undefined || (typeof calls === 'function' ? calls(call) : calls.includes(call))) &&
        (probability === undefined || chance.next() < probability),
    )
  }

  async function surround<T>(given: Surrounded<T>): Promise<T> {
    const call = (counts.get(given.verb) ?? 0) + 1
    counts.set(given.verb, call)
    const fault = choose(given, call)
    if (!fault) return await given.run()
    injected++
    return await suffer(given, fault, call, pause)
  }

  return {
    ...around(inner, surround),
    startOutage() {
      isOut = true
    },
    endOutage() {
      isOut = false
    },
    calls: (verb) => counts.get(verb) ?? 0,
    get injected() {
      return injected
    },
  }
}

async function suffer<T>(
  { verb, run, runHalf }: Surrounded<T>,
  { kind, ms = 10 }: Fault,
  call: number,
  pause: (ms: number) => Promise<unknown>,
): Promise<T> {
  switch (kind) {
    case 'refused':
      throw injectedFault(`${verb} ${call} was refused; it was not carried out`)
    case 'lost':
      await run()
      throw injectedFault(`the answer of ${verb} ${call} was lost; it was carried out`)
    case 'half':
      await runHalf?.()
      throw injectedFault(`${verb} ${call} was cut off in the middle of its batch`)
    case 'delayed':
      await pause(ms)
      return await run()
    case 'late': {
      const answer = await run()
      await pause(ms)
      return answer
    }
  }
}

function injectedFault(message: string): IbidError {
  return new IbidError(`injected: ${message}`, {
    code: 'INJECTED_FAULT',
    retriable: true,
    action: 'nothing: a test asked for this fault',
  })
}
