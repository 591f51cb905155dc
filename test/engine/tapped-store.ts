/** A store whose calls a test counts, holds up, fails before they are carried out, or cuts off after they were. */
import type { Store } from '../../src/store.js'
import { type Verb, VERBS } from '../../src/testing/around.js'

export interface TappedCall {
  readonly verb: Verb
  readonly argument: unknown
  readonly size: number
}

export interface Tap {
  readonly calls: readonly TappedCall[]
  count(verb: Verb): number
  /** The sizes of the batches of this verb, in order. */
  batches(verb: Verb): readonly number[]
  /** The next `times` calls are not carried out. */
  failBefore(verb: Verb, times?: number): void
  /** The next `times` calls are carried out, and their answers get lost. */
  failAfter(verb: Verb, times?: number): void
  /** Everything fails from now on, until `back`. */
  outage(): { back(): void }
  /** Calls of this verb wait at the door until they are let in; those already in are not carried out yet. */
  hold(verb: Verb): { let(): void; readonly waiting: number }
}

function take(from: Map<Verb, number>, verb: Verb): boolean {
  const left = from.get(verb) ?? 0
  from.set(verb, left - 1)
  return left > 0
}

export function tapped<Tx>(inner: Store<Tx>, facts: Partial<Store<Tx>> = {}): { store: Store<Tx>; tap: Tap } {
  const calls: TappedCall[] = []
  const before = new Map<Verb, number>()
  const after = new Map<Verb, number>()
  const doors = new Map<Verb, { open: boolean; readonly queue: (() => void)[] }>()
  let out = false

  async function through(verb: Verb, argument: unknown, run: () => Promise<unknown>): Promise<unknown> {
    calls.push({ verb, argument, size: Array.isArray(argument) ? argument.length : 1 })
    const door = doors.get(verb)
    if (door && !door.open) await new Promise<void>((resolve) => door.queue.push(resolve))
    if (out || take(before, verb)) throw new TypeError('connection refused')
    const answer = await run()
    if (take(after, verb)) throw new TypeError('connection reset')
    return answer
  }

  const store = { ...inner, ...facts } as Record<string, unknown>
  for (const verb of VERBS) {
    const method = inner[verb] as (...given: unknown[]) => Promise<unknown>
    store[verb] = (...given: unknown[]) => through(verb, given[0], () => method.apply(inner, given))
  }

  return {
    store: store as unknown as Store<Tx>,
    tap: {
      calls,
      count: (verb) => calls.filter((call) => call.verb === verb).length,
      batches: (verb) => calls.filter((call) => call.verb === verb).map(({ size }) => size),
      failBefore: (verb, times = 1) => void before.set(verb, times),
      failAfter: (verb, times = 1) => void after.set(verb, times),
      outage() {
        out = true
        return { back: () => void (out = false) }
      },
      hold(verb) {
        const door = { open: false, queue: [] as (() => void)[] }
        doors.set(verb, door)
        return {
          let() {
            door.open = true
            for (const go of door.queue.splice(0)) go()
          },
          get waiting() {
            return door.queue.length
          },
        }
      },
    },
  }
}
