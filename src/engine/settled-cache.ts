/**
 * A bounded cache of settled receipts, those not used lately out first. Only succeeded and failed ones: those
 * never change. Each is served until its window ends, counted on the engine's own clock from before the store was
 * asked. Claims are never answered from here.
 */
import type { Address, Receipt, ReceiptView } from '../core/receipt.js'
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

/** Everything in one object, all of it from the beginning: a duplicate is answered as fast as memory is read. */
export interface Settled {
  readonly receipt: Receipt
  readonly outcome: string
  /** What a plain outcome holds, read once; whoever is answered gets a copy. A flat one is copied by a spread. */
  value: unknown
  shape: 'flat' | 'nested' | undefined
  /** The same, frozen, for those who get by with a value that cannot be changed. */
  shared: { readonly value: unknown } | undefined
  view: ReceiptView | undefined
  /** A payload that had this very fingerprint, read by this identity: the next one like it needs no hashing. */
  seen: unknown
  seenBy: unknown
  /** Duplicates answered since they were last written to the audit log. */
  hits: number
}

interface Entry extends Settled {
  readonly goodUntilMs: number
}

export interface SettledCache {
  get(address: Address): Settled | undefined
  /** `now`: the store's answer; `askedMs`: the engine's clock before it was asked, because answers may come late. */
  put(receipt: Receipt, now: number, askedMs: number): Settled
}

/** By tenant, scope and key, each as the caller has it: a text made for the question would have to be hashed. */
class Half {
  size = 0
  characters = 0
  readonly #tenants = new Map<string, Map<string, Map<string, Entry>>>()
  // Most programs ask about few scopes again and again: those of the last one are at hand.
  #tenant: string | undefined
  #scope: string | undefined
  #keys: Map<string, Entry> | undefined

  get({ tenant, scope, key }: Address): Entry | undefined {
    return this.#keysOf(tenant, scope)?.get(key)
  }

  set(entry: Entry): void {
    const { tenant, scope, key } = entry.receipt
    const keys = this.#keysOf(tenant, scope) ?? this.#addKeys(tenant, scope)
    if (!keys.has(key)) this.size++
    keys.set(key, entry)
    this.characters += entry.outcome.length
  }

  #keysOf(tenant: string, scope: string): Map<string, Entry> | undefined {
    if (this.#keys === undefined || this.#scope !== scope || this.#tenant !== tenant) {
      this.#keys = this.#tenants.get(tenant)?.get(scope)
      this.#tenant = tenant
      this.#scope = scope
    }
    return this.#keys
  }

  #addKeys(tenant: string, scope: string): Map<string, Entry> {
    const keys = new Map<string, Entry>()
    const scopes = this.#tenants.get(tenant)
    if (scopes) scopes.set(scope, keys)
    else this.#tenants.set(tenant, new Map([[scope, keys]]))
    return keys
  }
}

export function createSettledCache(limits: CacheLimits, timers: Timers): SettledCache {
  // Two halves: what is used moves to the young one, and when that is full the old one is forgotten whole.
  let young = new Half()
  let old = new Half()

  function add(entry: Entry): void {
    if (
      young.size + 1 > limits.maxEntries / 2 ||
      young.characters + entry.outcome.length > limits.maxCharacters / 2
    ) {
      old = young
      young = new Half()
    }
    young.set(entry)
  }

  return {
    get(address) {
      const hot = young.get(address)
      const entry = hot ?? old.get(address)
      if (entry === undefined || timers.elapsedMs() >= entry.goodUntilMs) return undefined
      if (hot === undefined) add(entry)
      return entry
    },

    put(receipt, now, askedMs) {
      const outcome = receipt.outcome ?? ''
      const leftMs = (receipt.until as number) - now
      const entry: Entry = {
        receipt,
        outcome,
        value: undefined,
        shape: undefined,
        shared: undefined,
        view: undefined,
        seen: undefined,
        seenBy: undefined,
        hits: 0,
        // Whole, so that reading it is reading the entry.
        goodUntilMs: Math.floor(askedMs + leftMs),
      }
      if (limits.maxEntries >= 2 && outcome.length <= limits.maxCharacters / 2) add(entry)
      return entry
    },
  }
}
