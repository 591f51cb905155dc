/**
 * Every run of something that makes choices, one after the other: depth first, by doing it again from the start
 * with the last choice changed. What is explored must do the same whenever it is given the same choices.
 */
export type Choose = (of: number) => number

/** Calls `run` until there is no choice left that was not made; returns how many runs that took. */
export async function explore(run: (choose: Choose) => Promise<void>): Promise<number> {
  const path: { picked: number; readonly of: number }[] = []
  for (let runs = 1; ; runs++) {
    let depth = 0
    await run((of) => {
      if (depth === path.length) path.push({ picked: 0, of })
      const at = path[depth++] as { picked: number; of: number }
      if (at.of !== of) throw new RangeError(`choice ${depth} was one of ${at.of}, and is now one of ${of}`)
      return at.picked
    })
    while (path.length > 0 && (path.at(-1)?.picked ?? 0) + 1 === path.at(-1)?.of) path.pop()
    const last = path.at(-1)
    if (!last) return runs
    last.picked++
  }
}
