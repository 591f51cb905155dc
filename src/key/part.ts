/** The values that a key can be made of, and why the others cannot: they would let two actions share one key. */

export type KeyPart = string | number | boolean | bigint

/** In words; undefined where there is none. */
export function problemOf(part: unknown): string | undefined {
  switch (typeof part) {
    case 'boolean':
    case 'bigint':
      return undefined
    case 'string':
      if (part === '') return 'empty'
      return part.isWellFormed() ? undefined : 'text with half a surrogate pair'
    case 'number':
      return Math.abs(part) <= Number.MAX_SAFE_INTEGER ? undefined : `${part}, not a safe number`
    default:
      return part === null ? 'null' : part === undefined ? 'undefined' : `of type ${typeof part}`
  }
}
