/**
 * No state without a way out: lapsed receipts that nobody comes back for are swept to where a person finds them,
 * and receipts whose window has ended are forgotten, in small batches that claims do not notice.
 */
import { lapsedDraft } from '../core/drafts.js'
import { type Receipt, asWritten } from '../core/receipt.js'
import { conditionOf, findRow } from '../core/transitions.js'
import type { ScanPage } from '../store.js'
import type { Room } from './room.js'
import { pause } from './timers.js'

export interface Swept {
  /** Held for a person now. */
  readonly held: number
  /** Given back: their attempts certainly did nothing. */
  readonly released: number
  /** Receipts and audit events forgotten. */
  readonly purged: number
  readonly events: number
}

const BATCH = 200
const PAUSES = 3

/** `gently`: after each batch, claims have the store to themselves for three times as long as the batch took. */
export async function sweep(room: Room, auditMs: number, gently?: 'gently'): Promise<Swept> {
  const sweeping = sweepLapsed(room)
  // A store that is full refuses these, and has room for them when others were forgotten.
  await sweeping.catch(() => undefined)
  const forgotten = await forget(room, auditMs, gently)
  return { ...(await sweeping), ...forgotten }
}

async function forget(
  room: Room,
  auditMs: number,
  gently: 'gently' | undefined,
): Promise<Pick<Swept, 'purged' | 'events'>> {
  let purged = 0
  let events = 0
  for (;;) {
    const startMs = room.timers.elapsedMs()
    const gone = await room.store.purge(BATCH, auditMs)
    purged += gone.receipts
    events += gone.events
    const isLast = gone.receipts < BATCH && gone.events < BATCH
    if (isLast || room.isClosing()) return { purged, events }
    if (gently) await pause(room.timers, PAUSES * (room.timers.elapsedMs() - startMs))
  }
}

async function sweepLapsed(room: Room): Promise<{ held: number; released: number }> {
  const moved = { held: 0, released: 0 }
  let cursor: string | undefined
  do {
    const page: ScanPage = await room.store.scan({ states: ['pending'], ended: true, limit: BATCH, cursor })
    const states = await Promise.all(page.receipts.map((receipt) => sweepOne(room, receipt, page.now)))
    moved.held += states.filter((state) => state === 'unknown').length
    moved.released += states.filter((state) => state === 'released').length
    cursor = page.cursor
  } while (cursor !== undefined && !room.isClosing())
  return moved
}

/** The state it was moved to; undefined where the table has no way out for it now, or somebody else was faster. */
export async function sweepOne(
  room: Room,
  found: Receipt,
  now: number,
): Promise<Receipt['state'] | undefined> {
  const row = findRow(conditionOf(found, now), 'sweep', found.recovery)
  if (!row) return undefined
  const next = lapsedDraft(found, row, { event: 'swept', by: 'sweep', why: 'its lease lapsed' })
  const expect = { token: found.token, state: found.state, until: found.until }
  const swapped = await room.commit.swap({ expect, next })
  if (!swapped.done) return undefined
  room.telemetry.decided('swept', found.scope)
  room.auditor.changed(asWritten(next, swapped.now, swapped.epoch), next.audit)
  return row.to
}

/** Sweeps now and then, in the background, until it is stopped. Several processes may do so at once. */
export function keepHouse(room: Room, everyMs: number, auditMs: number): () => void {
  let disarm = next()
  let stopped = false
  function next(): () => void {
    // Spread out, so that a fleet that was deployed together does not sweep together.
    return room.timers.after(everyMs * (0.75 + Math.random() / 2), () => void turn(), 'background')
  }
  async function turn(): Promise<void> {
    await sweep(room, auditMs, 'gently').catch(() => room.telemetry.storeFailed())
    if (!stopped) disarm = next()
  }
  return () => {
    stopped = true
    disarm()
  }
}
