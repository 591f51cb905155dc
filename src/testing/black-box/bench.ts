/**
 * What a property works with: new keys, calls that are written down, callers that come back when they are told
 * to, and the count of effects between two moments.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { IbidError } from '../../core/errors.js'
import { type Journal, journal } from './journal.js'
import type { Answer, Order, Sending, Target } from './target.js'

/** How often the effect has happened so far, for all keys together. */
export type Probe = () => number | Promise<number>

export interface Payloads {
  readonly plain: unknown
  /** Means something else than `plain`. */
  readonly other?: unknown
  /** Makes the effect, or what comes after it, fail. */
  readonly failing?: unknown
  /** Does its effect, and takes its time before it answers. */
  readonly slow?: unknown
}
export type PayloadName = keyof Payloads

export interface Terms {
  readonly atOnce: number
  /** How long a caller goes on when it is told to come back. */
  readonly patienceMs: number
  /** How long the count of effects must stand still to be believed. */
  readonly settleMs: number
  /** Calls without a key are meant to run unguarded. */
  readonly keyOptional: boolean
}

export interface Made extends Omit<Order, 'payload'> {
  readonly payload: PayloadName
}

export interface Bench {
  readonly target: Target
  readonly payloads: Payloads
  readonly terms: Terms
  readonly hasProbe: boolean
  readonly journal: Journal
  newKey(): string
  /** One call, and its answer. */
  call(order: Made, sending?: Sending): Promise<Answer>
  /** A call that is made again, with the same key, as long as it is told to come back and has patience. */
  persist(order: Made): Promise<Answer>
  /** Starts counting; the result tells the effects since then, once they stand still. Undefined: no probe. */
  counting(): Promise<() => Promise<number | undefined>>
  /** The count right now, for waiting on an effect. */
  peek(): Promise<number | undefined>
}

const NAMES: Readonly<Record<PayloadName, string>> = {
  plain: '',
  other: ', another payload',
  failing: ', the failing payload',
  slow: ', the slow payload',
}
const COME_BACK_MS = { default: 50, most: 500 }

export function createBench(
  target: Target,
  payloads: Payloads,
  terms: Terms,
  probe: Probe | undefined,
  newKey: () => string,
): Bench {
  const log = journal()

  async function send(order: Made, sending?: Sending): Promise<Answer> {
    return await target.call({ ...order, payload: payloads[order.payload] }, sending)
  }

  /** A probe that the target itself answers is gone while the target restarts. */
  async function read(): Promise<number> {
    const until = Date.now() + terms.patienceMs
    for (;;) {
      try {
        return numberOf(await (probe as Probe)())
      } catch (error) {
        if (Date.now() > until) throw error
        await sleep(100)
      }
    }
  }

  async function still(): Promise<number> {
    const until = Date.now() + terms.patienceMs
    let last = await read()
    for (;;) {
      await sleep(terms.settleMs)
      const now = await read()
      if (now === last || Date.now() > until) return now
      last = now
    }
  }

  return {
    target,
    payloads,
    terms,
    hasProbe: probe !== undefined,
    journal: log,
    newKey,
    async call(order, sending) {
      const close = log.open(lineOf(order))
      const answer = await send(order, sending)
      close(answer, 1)
      return answer
    },
    async persist(order) {
      const close = log.open(lineOf(order))
      const until = Date.now() + terms.patienceMs
      for (let tries = 1; ; tries++) {
        const answer = await send(order)
        const isOver = answer.kind !== 'wait' || Date.now() > until
        if (isOver) {
          close(answer, tries)
          return answer
        }
        await sleep(Math.min(answer.retryAfterMs ?? COME_BACK_MS.default, COME_BACK_MS.most))
      }
    },
    async counting() {
      if (!probe) return async () => undefined
      const before = await still()
      return async () => {
        const effects = (await still()) - before
        log.say(`effects: ${effects}`)
        return effects
      }
    },
    peek: async () => (probe ? await read() : undefined),
  }
}

function lineOf({ key, payload, as }: Made): string {
  const name =
    key === undefined
      ? 'no key'
      : `key ${key.length > 48 ? `${key.slice(0, 24)}… (${key.length})` : JSON.stringify(key)}`
  const role = as === undefined ? '' : as === 'other' ? ', another caller' : ', claiming to be a replay'
  return `${name}${NAMES[payload]}${role}`
}

function numberOf(count: unknown): number {
  if (typeof count === 'number' && Number.isInteger(count) && count >= 0) return count
  throw new IbidError(`the probe gave ${String(count)}, which is no count`, {
    code: 'BAD_PROBE',
    retriable: false,
    action: 'let the probe give the number of effects so far, a whole number',
  })
}
