/** A function of a text that is asked for the same few texts again and again, and remembers what it made of them. */

export interface Limits {
  /** How many texts are remembered; those that come later are made anew each time. */
  readonly most: number
  /** Characters of a text that is remembered. */
  readonly longest: number
}

/** What `make` gives undefined for is not remembered. */
export function remember<V>(
  { most, longest }: Limits,
  make: (text: string) => V | undefined,
): (text: string) => V | undefined {
  const known = new Map<string, V>()
  return (text) => {
    const found = known.get(text)
    if (found !== undefined) return found
    const made = make(text)
    if (made !== undefined && text.length <= longest && known.size < most) known.set(text, made)
    return made
  }
}
