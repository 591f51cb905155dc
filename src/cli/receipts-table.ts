/** Receipts as rows of a table; the same columns wherever receipts are listed. */
import type { ReceiptView, State } from '../core/receipt.js'
import type { Colour } from './paint.js'
import { type Column, table } from './table.js'
import { instant, since } from './times.js'

const COLOURS: Readonly<Record<State, Colour | undefined>> = {
  pending: 'cyan',
  released: 'dim',
  succeeded: 'green',
  failed: 'yellow',
  unknown: 'red',
}

export function colourOf(state: State): Colour | undefined {
  return COLOURS[state]
}

export function receiptsTable(receipts: readonly ReceiptView[], now: number): string {
  const columns: readonly Column<ReceiptView>[] = [
    { title: 'STATE', cell: ({ state }) => state, colour: ({ state }) => colourOf(state) },
    { title: 'TENANT', cell: ({ tenant }) => tenant },
    { title: 'SCOPE', cell: ({ scope }) => scope },
    { title: 'KEY', cell: ({ key }) => key },
    { title: 'TRY', cell: ({ attempt }) => String(attempt), align: 'right' },
    { title: 'SINCE', cell: ({ at }) => instant(at) },
    { title: 'ENDS', cell: ({ until }) => (until === null ? 'never' : since(until, now)) },
  ]
  return table(receipts, columns)
}
