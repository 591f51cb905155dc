/**
 * Duplicates that were answered and are not in the audit log yet, counted by claim. A receipt that is not in the cache
 * comes as another object each time. Those of one claim are found by the caller's own key, and told apart by the rest:
 * a text made of all of it would have to be made and hashed for every duplicate.
 */
import type { Settled } from './settled-cache.js'
import { isSameClaim } from './with-receipt.js'

export class Answered {
  // Another one each time, and not one that is cleared: under-way.ts says why.
  #byKey = new Map<string, Settled[]>()
  #size = 0

  get size(): number {
    return this.#size
  }

  /** One more answer from `settled`. */
  count(settled: Settled): void {
    if (settled.hits > 0) return void settled.hits++
    const { receipt } = settled
    const sameKey = this.#byKey.get(receipt.key)
    const counted = sameKey?.find((other) => isSameClaim(other.receipt, receipt))
    if (counted) return void counted.hits++
    settled.hits = 1
    this.#size++
    if (sameKey) sameKey.push(settled)
    else this.#byKey.set(receipt.key, [settled])
  }

  /** All of them with their counts, which begin anew. */
  take(): { readonly settled: Settled; readonly count: number }[] {
    const taken = [...this.#byKey.values()].flat().map((settled) => ({ settled, count: settled.hits }))
    for (const { settled } of taken) settled.hits = 0
    this.#byKey = new Map()
    this.#size = 0
    return taken
  }
}
