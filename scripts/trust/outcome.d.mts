/** The types of outcome.mjs, for the tests. */
export interface FileResult {
  readonly name: string
  readonly status: string
  readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[]
}

export function outcomeOf(
  results: readonly FileResult[],
  code: number | null,
  nameOf?: (name: string) => string,
): { readonly passed: readonly string[]; readonly failed: readonly string[] }
