/** Pages out of slices: the thread that has the file reads a bounded piece at a time, and claims pass in between. */
import { readNumber } from '../../core/cursor.js'
import type { AuditPage, AuditQuery, ScanPage, ScanQuery } from '../../store.js'
import type { AuditSlice } from './audit.js'
import { toEvent, toReceipt } from './receipt.js'
import type { ScanSlice } from './scan.js'

export async function readScan(
  query: ScanQuery,
  slice: (after: number) => Promise<ScanSlice>,
): Promise<ScanPage> {
  let after: number | null = readNumber(query.cursor ?? '0')
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
  slice: (from: number | undefined) => Promise<AuditSlice>,
): Promise<AuditPage> {
  let from = query.cursor === undefined ? undefined : readNumber(query.cursor)
  const events: AuditPage['events'][number][] = []
  for (;;) {
    const read = await slice(from)
    const room = query.limit - events.length
    events.push(...read.rows.slice(0, room).map(toEvent))
    from = read.rows.length > room ? (read.rows[room - 1]?.[0] as number) : read.from
    if (read.more && events.length < query.limit) continue
    if (query.newestFirst && events.length < query.limit) return { events, cursor: undefined }
    return { events, cursor: from === 0 ? undefined : String(from) }
  }
}
