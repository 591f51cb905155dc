/**
 * The clock rule. DynamoDB has no clock that a write could read, so every process stamps with its own, and the
 * store relies on all of them being within `maxSkewMs` of the server's. A lease that somebody else holds counts as
 * ended only when it has ended by every clock inside that bound: by ours, two bounds later. The bound is watched,
 * not believed: the Date header of every answer shows how far off this process can be at least.
 */
import { performance } from 'node:perf_hooks'
import type { Receipt } from '../../core/receipt.js'

/** Milliseconds since 1970. */
export interface Clock {
  now(): number
}

/** How far this process's clock is ahead of the server's, as far as it is known. */
export interface Skew {
  readonly atLeastMs: number
  readonly atMostMs: number
}

export interface SkewWatch {
  /** What one answer shows: its Date header, and our clock when it was asked for and when it came. */
  sample(date: string, sentMs: number, receivedMs: number): void
  /** Undefined: no answer has had a Date header lately. */
  measured(): Skew | undefined
}

/** A Date header has whole seconds: the server's clock was somewhere in the second that it names. */
const RESOLUTION_MS = 1_000
const MOST_SAMPLES = 64
/** Clocks drift and are set: what was true a minute ago need not be. */
const GOOD_FOR_MS = 60_000

export function createSkewWatch(elapsedMs: () => number = () => performance.now()): SkewWatch {
  let samples: (Skew & { readonly takenMs: number })[] = []
  return {
    sample(date, sentMs, receivedMs) {
      const serverMs = Date.parse(date)
      if (Number.isNaN(serverMs)) return
      const takenMs = elapsedMs()
      const fresh = { atLeastMs: sentMs - serverMs - RESOLUTION_MS, atMostMs: receivedMs - serverMs, takenMs }
      samples = [...samples.slice(1 - MOST_SAMPLES), fresh].filter((s) => takenMs - s.takenMs < GOOD_FOR_MS)
      // Samples that exclude each other: one of the clocks was set in between, so only the newest counts.
      const { atLeastMs, atMostMs } = meet(samples)
      if (atLeastMs > atMostMs) samples = [fresh]
    },
    measured() {
      const takenMs = elapsedMs()
      const fresh = samples.filter((s) => takenMs - s.takenMs < GOOD_FOR_MS)
      return fresh.length === 0 ? undefined : meet(fresh)
    },
  }
}

function meet(samples: readonly Skew[]): Skew {
  return {
    atLeastMs: Math.max(...samples.map((s) => s.atLeastMs)),
    atMostMs: Math.min(...samples.map((s) => s.atMostMs)),
  }
}

/** Proved, not feared: no clock inside the bound could have given these samples. */
export function isBeyond({ atLeastMs, atMostMs }: Skew, maxSkewMs: number): boolean {
  return atLeastMs > maxSkewMs || atMostMs < -maxSkewMs
}

/** Could still be either: more samples would tell. */
export function isUndecided(skew: Skew, maxSkewMs: number): boolean {
  return !isBeyond(skew, maxSkewMs) && (skew.atMostMs > maxSkewMs || skew.atLeastMs < -maxSkewMs)
}

/**
 * The time to judge `found` by. The owner of a lease may have stamped it by a clock that is a bound behind the
 * server's, and ours may be a bound ahead.
 */
export function judgedAt(found: Pick<Receipt, 'state'>, nowMs: number, maxSkewMs: number): number {
  return found.state === 'pending' ? nowMs - leaseMarginMs(maxSkewMs) : nowMs
}

export function leaseMarginMs(maxSkewMs: number): number {
  return 2 * maxSkewMs
}

/**
 * How long after its window a receipt is deleted at the earliest: by then every clock inside the bound is past the
 * epoch that the receipt had, so that whoever claims the address next gets a higher one.
 */
export function purgeMarginMs(maxSkewMs: number): number {
  return 4 * maxSkewMs
}
