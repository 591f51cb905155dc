/**
 * Counts over time: a ring of steps, the oldest overwritten. Each step counts by name; an empty step costs
 * nothing.
 */
export interface Step {
  readonly at: number
  readonly counts: Readonly<Record<string, number>>
}

export interface Series {
  add(name: string, count: number): void
  /** Oldest first, without the empty ones. */
  steps(): readonly Step[]
}

export function createSeries(stepMs: number, length: number, nowMs: () => number = Date.now): Series {
  const ring: ({ readonly step: number; readonly counts: Map<string, number> } | undefined)[] = []
  return {
    add(name, count) {
      const step = Math.floor(nowMs() / stepMs)
      let place = ring[step % length]
      if (place?.step !== step) ring[step % length] = place = { step, counts: new Map() }
      place.counts.set(name, (place.counts.get(name) ?? 0) + count)
    },
    steps() {
      const oldest = Math.floor(nowMs() / stepMs) - length
      return ring
        .filter((place) => place !== undefined && place.step > oldest)
        .sort((a, b) => (a?.step ?? 0) - (b?.step ?? 0))
        .map((place) => ({
          at: (place?.step ?? 0) * stepMs,
          counts: Object.fromEntries(place?.counts ?? []),
        }))
    },
  }
}
