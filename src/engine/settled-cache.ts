/**
 * A bounded cache of settled receipts, least recently used out first. Only succeeded and failed ones: those
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

export interface Settled {
  readonly receipt: Receipt
  readonly outcome: string
  /** What a plain outcome holds, read once; copied before it is given away. */
  plain?: { readonly value: unknown }
  view?: ReceiptView
}

interface Entry extends Settled {
  readonly goodUntilMs: number
}

export interface SettledCache {
  get(id: string): Settled | undefined
  put(id: string, receipt: Receipt, now: number): Settled
}

export function createSettledCache(limits: CacheLimits, timers: Timers): SettledCache {
  const entries = new Map<string, Entry>()
  let characters = 0

  function drop(id: string, entry: Entry): void {
    entries.delete(id)
    characters -= entry.outcome.length
  }

  return {
    get(id) {
      const entry = entries.get(id)
      if (entry === undefined) return undefined
      if (timers.elapsedMs() >= entry.goodUntilMs) {
        drop(id, entry)
        return undefined
      }
      entries.delete(id)
      entries.set(id, entry)
      return entry
    },

    put(id, receipt, now) {
      const old = entries.get(id)
      if (old) drop(id, old)
      const outcome = receipt.outcome ?? ''
      const leftMs = (receipt.until as number) - now
      const entry: Entry = { receipt, outcome, goodUntilMs: timers.elapsedMs() + leftMs }
      if (limits.maxEntries === 0 || outcome.length > limits.maxCharacters) return entry
      entries.set(id, entry)
      characters += outcome.length
      for (const [oldest, its] of entries) {
        if (entries.size <= limits.maxEntries && characters <= limits.maxCharacters) break
        drop(oldest, its)
      }
      return entry
    },
  }
}
