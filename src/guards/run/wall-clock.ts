/** The clock on this computer's wall, set right by what the store's clock said when it was asked. */

export interface WallClock {
  now(): number
  /** Called before the store is asked; what it returns is told the store's answer. */
  asking(): (storeMs: number) => void
}

export function createWallClock(raw: () => number): WallClock {
  let offsetMs = 0
  return {
    now: () => raw() + offsetMs,
    asking() {
      const askedMs = raw()
      return (storeMs) => {
        // The store read its clock somewhere between the question and now: what that allows for is left alone.
        const leastMs = storeMs - raw()
        const mostMs = storeMs - askedMs
        offsetMs = Math.min(Math.max(offsetMs, leastMs), mostMs)
      }
    },
  }
}
