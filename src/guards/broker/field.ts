/** Fields of arguments: where one is, in words, and what a check says about it. */

/** One problem with the arguments. `field` is a path: 'items[2].amount'; empty: the arguments as a whole. */
export interface FieldProblem {
  readonly field: string
  readonly message: string
}

export type Checked =
  | { readonly value: unknown; readonly problems?: undefined }
  | { readonly problems: readonly FieldProblem[] }

export function joinPath(segments: readonly PropertyKey[]): string {
  return segments.reduce<string>((text, segment) => {
    if (typeof segment === 'number' || /^\d+$/.test(String(segment))) return `${text}[${String(segment)}]`
    return text === '' ? String(segment) : `${text}.${String(segment)}`
  }, '')
}
