/**
 * What a server counts of itself: requests by route and status, the store's answers by verb, who waits and who
 * listens.
 */
import { createHistogram, type Histogram } from './histogram.js'

export interface Meters {
  /** Requests by `route status`. */
  readonly requests: ReadonlyMap<string, number>
  readonly durations: ReadonlyMap<string, Histogram>
  readonly store: ReadonlyMap<string, Histogram>
  readonly storeErrors: ReadonlyMap<string, number>
  waiters: number
  streams: number
  requested(route: string, status: number, ms: number): void
  answered(verb: string, ms: number): void
  storeFailed(verb: string): void
}

export function createMeters(): Meters {
  const requests = new Map<string, number>()
  const durations = new Map<string, Histogram>()
  const store = new Map<string, Histogram>()
  const storeErrors = new Map<string, number>()
  return {
    requests,
    durations,
    store,
    storeErrors,
    waiters: 0,
    streams: 0,
    requested(route, status, ms) {
      count(requests, `${route} ${status}`)
      histogram(durations, route).add(ms)
    },
    answered(verb, ms) {
      histogram(store, verb).add(ms)
    },
    storeFailed(verb) {
      count(storeErrors, verb)
    },
  }
}

function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1)
}

function histogram(all: Map<string, Histogram>, name: string): Histogram {
  let one = all.get(name)
  if (!one) all.set(name, (one = createHistogram()))
  return one
}
