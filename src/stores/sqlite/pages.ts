/** Pages out of slices: the thread that has the file reads a bounded piece at a time, and claims pass in between. */
import { invalidIntent } from '../../core/errors.js'
import type { AuditPage, AuditQuery, ScanPage, ScanQuery } from '../../store.js'
import type { AuditSlice } from './audit.js'
import { toEvent, toReceipt } from './receipt.js'
import type { ScanSlice } from './scan.js'

export async function readScan(
  query: ScanQuery,
  slice: (after: number) => Promise<ScanSlice>,
): Promise<ScanPage> {
  let after: number | null = idAt(query.cursor)
  const receipts: ScanPage['receipts'][number][] = []
  let now = 0
  do {
    const read: ScanSlice = await slice(after)
    now ||= read.now
    // A page that is full before the slice is at its end goes on after its own last row.
    const room = query.limit - receipts.length
    receipts.push(...read.rows.slice(0, room).map(toReceipt))
    after = read.rows.length > room ? (read.rows[room - 1]?.[0] as number) : read.after
  } while (after !== null && receipts.length < query.limit)
  return { now, receipts, cursor: after === null ? undefined : String(after) }
}

export async function readAudit(
  query: AuditQuery,
  slice: (after: number) => Promise<AuditSlice>,
): Promise<AuditPage> {
  const start = idAt(query.cursor)
  let after = start
  const events: AuditPage['events'][number][] = []
  for (;;) {
    const read = await slice(after)
    const room = query.limit - events.length
    events.push(...read.rows.slice(0, room).map(toEvent))
    after = read.rows.length > room ? (read.rows[room - 1]?.[0] as number) : read.after
    if (!read.more || events.length >= query.limit) break
  }
  return { events, cursor: after === start ? query.cursor : String(after) }
}

function idAt(cursor: string | undefined): number {
  if (cursor === undefined) return 0
  const id = Number(cursor)
  if (Number.isSafeInteger(id) && id >= 0) return id
  throw invalidIntent(
    `${JSON.stringify(cursor)} is no cursor of this store`,
    'give a cursor as it came with the page before',
  )
}
