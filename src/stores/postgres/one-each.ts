/** A batch by its digests. All processes lock rows in the order of these, so that none waits in a circle. */

interface Placed {
  readonly digest: string
}

interface Parted<T> {
  readonly first: readonly T[]
  readonly rest: readonly T[]
}

/** The first one of each digest, sorted; the others, in their order, have to see what comes of it. */
export function oneEach<T extends Placed>(batch: readonly T[]): Parted<T> {
  const sorted = batch.toSorted(byDigest)
  const isAgain = ({ digest }: T, at: number): boolean => digest === sorted[at - 1]?.digest
  if (!sorted.some(isAgain)) return { first: sorted, rest: [] }
  return { first: sorted.filter((one, at) => !isAgain(one, at)), rest: sorted.filter(isAgain) }
}

function byDigest(a: Placed, b: Placed): number {
  return a.digest < b.digest ? -1 : a.digest > b.digest ? 1 : 0
}
