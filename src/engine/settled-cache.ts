/**
 * A bounded cache of settled receipts, those not used lately out first. Only succeeded and failed ones: those
 * never change. Each is served until its window ends, counted on the engine's own clock from the moment that
 * the store gave it. Claims are never answered from here.
 */
import type { Receipt, ReceiptView } from '../core/receipt.js'
import type { Timers } from './timers.js'

export interface CacheLimits {
  readonly maxEntries: number
  /** Characters of the outcomes together. */
  readonly maxCharacters: number
}

/** A copy of a plain payload, and the identity that it was read by. */
export interface Seen {
  readonly payload: unknown
  readonly identity: unknown
}

export interface Settled {
  readonly receipt: Receipt
  readonly outcome: string
  /** What a plain outcome holds, read once; copied before it is given away. */
  plain?: { readonly value: unknown }
  view?: ReceiptView
  /** A payload that had this very fingerprint: the next one like it needs no hashing. */
  seen?: Seen | undefined
  /** Duplicates answered since they were last written to the audit log. */
  hits: number
}

interface Entry extends Settled {
  readonly goodUntilMs: number
}

export interface SettledCache {
  get(id: string): Settled | undefined
  put(id: string, receipt: Receipt, now: number): Settled
}

export function createSettledCache(limits: CacheLimits, timers: Timers): SettledCache {
  // Two halves: what is used moves to the young one, and when that is full the old one is forgotten whole.
  let young = new Map<string, Entry>()
  let old = new Map<string, Entry>()
  let characters = 0

  function add(id: string, entry: Entry): void {
    if (
      young.size + 1 > limits.maxEntries / 2 ||
      characters + entry.outcome.length > limits.maxCharacters / 2
    ) {
      old = young
      young = new Map()
      characters = 0
    }
    young.set(id, entry)
    characters += entry.outcome.length
  }

  return {
    get(id) {
      const hot = young.get(id)
      const entry = hot ?? old.get(id)
      if (entry === undefined || timers.elapsedMs() >= entry.goodUntilMs) return undefined
      if (hot === undefined) add(id, entry)
      return entry
    },

    put(id, receipt, now) {
      const outcome = receipt.outcome ?? ''
      const leftMs = (receipt.until as number) - now
      const entry: Entry = { receipt, outcome, hits: 0, goodUntilMs: timers.elapsedMs() + leftMs }
      if (limits.maxEntries >= 2 && outcome.length <= limits.maxCharacters / 2) add(id, entry)
      return entry
    },
  }
}
