/**
 * How many runs may be active at once, per tenant and agent and per tenant, over all processes. A run that finds no
 * free slot is turned away, its reservation given back; one that was admitted before and lost its worker waits
 * instead, because turning it away would leave it half done.
 */
import { invalidIntent } from '../../core/errors.js'
import { onlyKnown } from '../../core/known.js'
import type { Attempt } from '../../core/policy.js'
import type { Ibid, Where } from '../../ibid.js'
import { createLine, type Line } from './line.js'
import { admissionRejected } from './refusals.js'
import { type Slot, takeSlot } from './slot.js'
import type { RunTerms } from './terms.js'
import type { Timers } from './timers.js'

/** A number: for each agent of each tenant. */
export type MaxActive = number | { readonly perAgent?: number; readonly perTenant?: number }

export interface Admission {
  /**
   * Throws ADMISSION_REJECTED, or what `wait` does when the attempt is stopped or left to another worker. What it
   * returns is called when the run has ended.
   */
  enter(
    attempt: Attempt,
    agent: string,
    terms: RunTerms,
    wait: (ms: number) => Promise<void>,
    onLost: (error: unknown) => void,
  ): Promise<() => Promise<void>>
}

interface Limit {
  readonly scope: string
  readonly of: string
  readonly slots: number
}

const MOST = 1_000
const AGAIN_MS = 250
const HOW = `give maxActive a whole number from 1 to ${MOST}, or { perAgent, perTenant }`
const FREE = (): Promise<void> => Promise.resolve()

export function createAdmission(ibid: Ibid, timers: Timers, maxActive: MaxActive | undefined): Admission {
  const { perAgent, perTenant } = readLimits(maxActive)
  const lines = new Map<string, Line>()

  function limitsFor(tenant: string, agent: string): Limit[] {
    const limits: Limit[] = []
    if (perAgent !== undefined) {
      limits.push({ scope: `slot:${agent}`, of: `agent ${agent} of tenant ${tenant}`, slots: perAgent })
    }
    if (perTenant !== undefined) limits.push({ scope: 'slot', of: `tenant ${tenant}`, slots: perTenant })
    return limits
  }

  function lineOf(tenant: string, { scope }: Limit): Line {
    const id = JSON.stringify([tenant, scope])
    const line = lines.get(id) ?? createLine(timers)
    lines.set(id, line)
    return line
  }

  async function find(
    tenant: string,
    { scope, slots }: Limit,
    terms: RunTerms,
    onLost: (error: unknown) => void,
  ): Promise<Slot | undefined> {
    for (const key of await candidates(ibid, { tenant, scope }, slots)) {
      const slot = await takeSlot(ibid, { tenant, scope, key }, terms.leaseMs, onLost)
      if (slot) return slot
    }
    return undefined
  }

  return {
    async enter(attempt, agent, terms, wait, onLost) {
      const { tenant, scope, key } = attempt
      const limits = limitsFor(tenant, agent)
      if (limits.length === 0) return FREE
      const held: Slot[] = []
      const startMs = timers.elapsedMs()
      async function leave(): Promise<void> {
        for (const limit of limits) lineOf(tenant, limit).ended(timers.elapsedMs() - startMs)
        await Promise.all(held.map((slot) => slot.release()))
      }
      try {
        for (const limit of limits) {
          const line = lineOf(tenant, limit)
          const who = JSON.stringify([scope, key])
          for (;;) {
            const slot = await find(tenant, limit, terms, onLost)
            if (slot) {
              held.push(slot)
              line.admitted(who)
              break
            }
            if (attempt.number === 1) {
              throw admissionRejected(limit.slots, limit.of, line.wait(who, limit.slots))
            }
            await wait(AGAIN_MS)
          }
        }
        return leave
      } catch (error) {
        await Promise.all(held.map((slot) => slot.release()))
        throw error
      }
    },
  }
}

/**
 * The slots that look free, in any order, so that workers seldom ask for the same one; and of those that are held, the
 * one whose lease ends first: if its holder died, that is where a slot comes back.
 */
async function candidates(ibid: Ibid, within: Omit<Where, 'key'>, slots: number): Promise<string[]> {
  const { receipts } = await ibid.list({ ...within, state: 'pending', limit: MOST })
  const taken = new Set(receipts.map(({ key }) => key))
  const free = Array.from({ length: slots }, (_, n) => String(n + 1)).filter((key) => !taken.has(key))
  const from = Math.floor(Math.random() * free.length)
  const [oldest] = receipts
    .filter(({ key }) => Number(key) <= slots)
    .toSorted((a, b) => (a.until ?? 0) - (b.until ?? 0))
  return [...free.slice(from), ...free.slice(0, from), ...(oldest ? [oldest.key] : [])]
}

function readLimits(given: MaxActive | undefined): {
  readonly perAgent?: number | undefined
  readonly perTenant?: number | undefined
} {
  const limits = typeof given === 'number' ? { perAgent: given } : (given ?? {})
  if (typeof limits !== 'object' || Array.isArray(limits)) {
    throw invalidIntent('maxActive is neither a number nor an object', HOW)
  }
  onlyKnown(limits, ['perAgent', 'perTenant'] satisfies (keyof typeof limits)[], 'maxActive')
  for (const [name, value] of Object.entries(limits)) {
    if (value === undefined || (Number.isInteger(value) && value >= 1 && value <= MOST)) continue
    throw invalidIntent(`maxActive is ${String(value)} (${name})`, HOW)
  }
  return limits
}
