/**
 * Whether claims meet claims of the same keys by other processes. An insert that expects none costs the server a sixth
 * less of all that an action does; where it meets one, it is undone, goes out again as one that lets the other win,
 * and leaves a line in the server's log. So for a while after that, all claims go out like that from the start.
 */
export interface Races {
  expected(): boolean
  seen(): void
}

const EXPECTED_MS = 60_000

export function createRaces(): Races {
  let untilMs = -1
  return {
    expected: () => performance.now() < untilMs,
    seen() {
      untilMs = performance.now() + EXPECTED_MS
    },
  }
}
