/**
 * Durations in buckets that grow by steps, from a tenth of a millisecond to ten seconds: what Prometheus wants,
 * and quantiles.
 */
export const BOUNDS_MS = [
  0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000,
] as const

export interface Histogram {
  add(ms: number): void
  /** How many were at most this long, for each bound, and all of them last. */
  cumulative(): readonly number[]
  readonly count: number
  readonly sumMs: number
  /** The bound under which this share lies; 0 where there is nothing yet. */
  quantile(share: number): number
}

export function createHistogram(): Histogram {
  const counts = Array.from({ length: BOUNDS_MS.length + 1 }, () => 0)
  let count = 0
  let sumMs = 0
  return {
    add(ms) {
      let at = 0
      while (at < BOUNDS_MS.length && ms > (BOUNDS_MS[at] as number)) at++
      counts[at] = (counts[at] as number) + 1
      count++
      sumMs += ms
    },
    cumulative() {
      let sum = 0
      return counts.map((one) => (sum += one))
    },
    get count() {
      return count
    },
    get sumMs() {
      return sumMs
    },
    quantile(share) {
      if (count === 0) return 0
      let sum = 0
      for (let at = 0; at < counts.length; at++) {
        sum += counts[at] as number
        if (sum >= share * count) return BOUNDS_MS[at] ?? 10_000
      }
      return 10_000
    },
  }
}
