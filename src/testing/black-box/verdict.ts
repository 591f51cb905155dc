/** What is said of a property: it held, it was violated and this was seen, or it could not be tested and why. */
export type Finding =
  | { readonly verdict: 'held'; readonly note?: string | undefined }
  | { readonly verdict: 'violated'; readonly saw: string }
  | { readonly verdict: 'not tested'; readonly why: string }

export function notTested(why: string): Finding {
  return { verdict: 'not tested', why }
}

/**
 * Faults that were seen stand by themselves. Without a probe, their absence is not enough: a second effect shows
 * in no answer.
 */
export function judged(
  faults: readonly (string | false | undefined)[],
  effects: number | undefined,
  note?: string,
): Finding {
  const seen = faults.filter((fault) => typeof fault === 'string')
  if (seen.length > 0) return { verdict: 'violated', saw: seen.join('; ') }
  if (effects === undefined) {
    return notTested('there is no probe: the answers show no fault, and effects were not counted')
  }
  return { verdict: 'held', note }
}

/** `2 effects for 1 key`, when it is another number than it should be. */
export function miscounted(effects: number | undefined, expected: number, keys: string): string | undefined {
  if (effects === undefined || effects === expected) return undefined
  return `${effects} ${effects === 1 ? 'effect' : 'effects'} for ${keys}`
}
