/**
 * Tables for people. On a terminal a table fits its width: the widest text columns give way. In a pipe nothing is cut,
 * so that grep and less see everything.
 */
import { type Colour, paint } from './paint.js'
import { cut, safe, widthOf } from './text.js'

export interface Column<Row> {
  readonly title: string
  readonly cell: (row: Row) => string
  readonly align?: 'right'
  readonly colour?: (row: Row) => Colour | undefined
}

const GAP = '  '
const NARROWEST = 8

export function table<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  columnsOfTerminal: number | undefined = process.stdout.isTTY ? process.stdout.columns : undefined,
): string {
  const cells = rows.map((row) => columns.map(({ cell }) => safe(cell(row))))
  const natural = columns.map(({ title }, at) =>
    Math.max(widthOf(title), ...cells.map((line) => widthOf(line[at] ?? ''))),
  )
  const widths = fit(natural, columnsOfTerminal)
  const head = line(
    columns,
    widths,
    (column) => paint(column.title, undefined),
    () => 'dim',
  )
  const body = rows.map((row, at) =>
    line(
      columns,
      widths,
      (_, i) => cells[at]?.[i] ?? '',
      (column) => column.colour?.(row),
    ),
  )
  return `${[head, ...body].join('\n')}\n`
}

function line<Row>(
  columns: readonly Column<Row>[],
  widths: readonly number[],
  textOf: (column: Column<Row>, at: number) => string,
  colourOf: (column: Column<Row>) => Colour | undefined,
): string {
  const parts = columns.map((column, at) => {
    const width = widths[at] ?? 0
    const text = cut(textOf(column, at), width)
    const space = ' '.repeat(Math.max(0, width - widthOf(text)))
    const painted = paint(text, colourOf(column))
    return column.align === 'right' ? space + painted : painted + space
  })
  return parts.join(GAP).trimEnd()
}

/** Takes from the widest until it fits; nothing gets too narrow to be read. */
function fit(natural: readonly number[], available: number | undefined): readonly number[] {
  const widths = [...natural]
  if (available === undefined) return widths
  const total = (): number => widths.reduce((sum, width) => sum + width, GAP.length * (widths.length - 1))
  while (total() > available) {
    const widest = widths.indexOf(Math.max(...widths))
    if ((widths[widest] ?? 0) <= NARROWEST) return widths
    widths[widest] = (widths[widest] ?? 0) - 1
  }
  return widths
}

/** Facts about one thing, each on its line, names in one column. */
export function facts(pairs: readonly (readonly [string, string])[]): string {
  const width = Math.max(0, ...pairs.map(([name]) => widthOf(name)))
  return pairs.map(([name, value]) => `${paint(name.padEnd(width), 'dim')}${GAP}${safe(value)}\n`).join('')
}
