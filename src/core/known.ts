/** A misspelt option is one that was never given: it is refused where it is read, and not taken for the default. */
import { invalidIntent } from './errors.js'

export function onlyKnown(given: object | null | undefined, known: readonly string[], owner: string): void {
  const unknown = Object.keys(given ?? {}).find((name) => !known.includes(name))
  if (unknown === undefined) return
  throw invalidIntent(`${unknown} is not an option of ${owner}`, `use one of ${known.join(', ')}`)
}
