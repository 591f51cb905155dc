/** A store read to its end, page by page, with nothing in memory but the page. Claims go on in between. */
import type { AuditEvent } from '../core/audit.js'
import { IbidError, storeUnavailable } from '../core/errors.js'
import type { Receipt } from '../core/receipt.js'
import type { AuditQuery, ScanQuery, Store } from '../store.js'

const PAGE = 500

export interface Found {
  readonly receipt: Receipt
  /** The store's clock when its page was read. */
  readonly now: number
}

export async function* allReceipts(store: Store, query: Omit<ScanQuery, 'limit'>): AsyncGenerator<Found> {
  let cursor: string | undefined
  do {
    const page = await asked(store.scan({ ...query, limit: PAGE, cursor }))
    for (const receipt of page.receipts) yield { receipt, now: page.now }
    cursor = page.cursor
  } while (cursor !== undefined)
}

export async function* allEvents(store: Store, query: Omit<AuditQuery, 'limit'>): AsyncGenerator<AuditEvent> {
  let { cursor } = query
  for (;;) {
    const page = await asked(store.audit({ ...query, limit: PAGE, cursor }))
    yield* page.events
    // The last page has a cursor too, for whoever wants to follow the log.
    if (page.events.length < PAGE || page.cursor === undefined) return
    cursor = page.cursor
  }
}

/** A store that does not answer is told apart from everything else that can go wrong in a command. */
export async function asked<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer
  } catch (error) {
    throw error instanceof IbidError ? error : storeUnavailable('nothing was changed by this command', error)
  }
}

/** The store's clock, and how far off this reading can be: the answer took that long. */
export async function clockOf(
  store: Store,
): Promise<{ readonly now: number; readonly offMs: number; readonly skewMs: number }> {
  const asking = Date.now()
  const { now } = await asked(store.scan({ limit: 1 }))
  const answeredAt = Date.now()
  const offMs = (answeredAt - asking) / 2
  return { now, offMs, skewMs: now - (asking + offMs) }
}
