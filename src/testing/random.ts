/** Chance that can be repeated: the same seed gives the same numbers on every computer. */

export interface Random {
  /** From 0 up to, not including, 1. */
  readonly next: () => number
  /** A copy in another order. */
  readonly shuffle: <T>(items: readonly T[]) => T[]
}

/** A Weyl sequence through two rounds of multiply and shift: plenty for tests, nothing for secrets. */
export function random(seed: number): Random {
  let position = seed >>> 0
  function next(): number {
    position = (position + 0x9e3779b9) >>> 0
    let mixed = Math.imul(position ^ (position >>> 16), 0x45d9f3b)
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d)
    return ((mixed ^ (mixed >>> 16)) >>> 0) / 2 ** 32
  }
  function shuffle<T>(items: readonly T[]): T[] {
    return items
      .map((item) => ({ item, place: next() }))
      .toSorted((a, b) => a.place - b.place)
      .map(({ item }) => item)
  }
  return { next, shuffle }
}
