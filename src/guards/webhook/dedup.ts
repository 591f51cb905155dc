/** What makes two deliveries one event, for vendors that sign the body only: their own id, or the signed bytes. */
import { invalidIntent } from '../../core/errors.js'

export type DedupBy = 'delivery' | 'body'

/** A misspelt one must not come to the vendor's id, which nobody has signed. */
export function readDedup(source: string, given: DedupBy = 'delivery'): DedupBy {
  if (given === 'delivery' || given === 'body') return given
  throw invalidIntent(`dedupBy of ${source} is ${JSON.stringify(given)}`, "give dedupBy 'delivery' or 'body'")
}
