/** The types of table.mjs, for the tests. */
export interface Report {
  readonly ran?: Readonly<Record<string, number>>
  readonly tried?: number
  readonly violations?: number
  readonly exhaustive?: boolean
  readonly seeds?: string
  readonly note?: string
  readonly details?: readonly string[]
  readonly control?: { readonly planted: number; readonly caught: number }
  readonly error?: string
  readonly notRun?: string
}

export interface Kept {
  readonly report: Report
  readonly size: string
  readonly commit: string
  readonly date: string
  readonly durationMs: number
}

export interface Row {
  readonly id: string
  readonly property: string
}

export function verdictOf(report: Report | undefined): string
export function boundOf(report: Report | undefined): number | undefined
export function isBad(verdict: string): boolean
export function cellsOf(row: Row, kept: Kept | undefined): readonly string[]
export function paint(row: Row, kept: Kept | undefined): string
export function page(
  rows: readonly Row[],
  keep: { readonly rows: Readonly<Record<string, Kept | undefined>> },
  versions: Readonly<Record<string, string>>,
): string
