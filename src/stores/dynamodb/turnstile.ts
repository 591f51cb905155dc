/** At most so many at once; the others wait their turn, in order. */

export function turnstile(most: number): <Out>(work: () => Promise<Out>) => Promise<Out> {
  const waiting: (() => void)[] = []
  let inside = 0
  return async (work) => {
    if (inside >= most) await new Promise<void>((enter) => waiting.push(enter))
    else inside++
    try {
      return await work()
    } finally {
      // Whoever comes next takes over the place.
      const enter = waiting.shift()
      if (enter) enter()
      else inside--
    }
  }
}
