/**
 * Rates, read out of an audit log: originals and duplicates apart, the busiest second, and how late a retry still came.
 * Hits are recorded together once a second, so that a distance is right to about a second.
 */
import type { AuditEvent } from '../core/audit.js'
import { addressId } from '../core/receipt.js'

export interface Observed {
  /** From the first to the last event that was read. */
  readonly seconds: number
  readonly originals: number
  readonly duplicates: number
  readonly perSecond: number
  /** Originals in the busiest ten seconds, per second. */
  readonly peakPerSecond: number
  readonly duplicateShare: number
  /** The longest time between a claim and a duplicate of it. */
  readonly retrySeconds: number
  /** False: there were more receipts than are followed, and `retrySeconds` is of the first of them. */
  readonly complete: boolean
}

export interface Observer {
  see(event: AuditEvent): void
  result(): Observed
}

const MOST_FOLLOWED = 1_000_000
const BIN_MS = 10_000

export function createObserver(): Observer {
  const claimedAt = new Map<string, number>()
  const bins = new Map<number, number>()
  let first = Infinity
  let last = -Infinity
  let originals = 0
  let duplicates = 0
  let retryMs = 0
  let complete = true

  function follow(event: AuditEvent): void {
    const id = addressId(event)
    if (claimedAt.size < MOST_FOLLOWED || claimedAt.has(id)) claimedAt.set(id, event.at)
    else complete = false
  }

  return {
    see(event) {
      first = Math.min(first, event.at)
      last = Math.max(last, event.at)
      if (event.event === 'claimed') {
        originals += event.count
        const bin = Math.floor(event.at / BIN_MS)
        bins.set(bin, (bins.get(bin) ?? 0) + event.count)
        follow(event)
      } else if (event.event === 'dedup_hit' || event.event === 'in_flight') {
        duplicates += event.count
        const at = claimedAt.get(addressId(event))
        if (at !== undefined) retryMs = Math.max(retryMs, event.at - at)
      }
    },
    result() {
      const seconds = last > first ? (last - first) / 1_000 : 0
      const busiest = Math.max(0, ...bins.values())
      return {
        seconds,
        originals,
        duplicates,
        perSecond: seconds === 0 ? originals : originals / seconds,
        // A log that is shorter than a bin has its whole length as the bin.
        peakPerSecond: busiest / Math.max(1, Math.min(BIN_MS / 1_000, seconds)),
        duplicateShare: originals === 0 ? 0 : duplicates / originals,
        retrySeconds: Math.ceil(retryMs / 1_000),
        complete,
      }
    },
  }
}
