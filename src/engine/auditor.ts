/**
 * Decisions on their way to the audit log and the sinks. A change is in the log already, written with it, and
 * only goes to the sinks. A decision that changed nothing is counted with its equals and recorded every second:
 * a storm of duplicates becomes a few rows with large counts, and no caller waits for them.
 */
import type { AuditEvent, AuditNote } from '../core/audit.js'
import { addressId, type Receipt } from '../core/receipt.js'
import type { Store } from '../store.js'
import { Answered } from './answered.js'
import type { Settled } from './settled-cache.js'
import type { Telemetry } from './telemetry.js'
import type { Timers } from './timers.js'

/** One that throws, or rejects, is counted as a failure, and nobody waits for it. */
export type AuditSink = (events: readonly AuditEvent[]) => void

export interface Auditor {
  /** A change that the store has made. */
  changed(receipt: Receipt, note: AuditNote): void
  /** A decision about `receipt` that changed nothing. */
  noticed(receipt: Receipt, note: AuditNote): void
  /** A duplicate that was answered from `settled`. */
  hit(settled: Settled): void
  /** Record what is waiting. */
  flush(): Promise<void>
}

const HIT: AuditNote = { event: 'dedup_hit' }
const EVERY_MS = 1_000
const MOST_WAITING = 10_000

export function createAuditor(
  store: Store,
  sinks: readonly AuditSink[],
  timers: Timers,
  telemetry: Telemetry,
): Auditor {
  const answered = new Answered()
  let waiting = new Map<string, { readonly event: AuditEvent; count: number }>()
  let disarm: (() => void) | undefined
  const recording = new Set<Promise<void>>()

  function tell(events: readonly AuditEvent[]): void {
    for (const sink of sinks) {
      // Each gets its own: what one of them does to the events is not done to the log.
      const told = (async () => sink(events.map((event) => ({ ...event }))))()
      told.catch(() => telemetry.storeFailed())
    }
  }

  function hits(): AuditEvent[] {
    return answered.take().map(({ settled: { receipt }, count }) => {
      telemetry.decided('dedup_hit', receipt.scope, count)
      return { ...toEvent(receipt, HIT), count }
    })
  }

  async function flush(): Promise<void> {
    disarm?.()
    disarm = undefined
    const events = [...Array.from(waiting.values(), ({ event, count }) => ({ ...event, count })), ...hits()]
    waiting = new Map()
    if (events.length > 0) {
      tell(events)
      const written = record(events).finally(() => recording.delete(written))
      recording.add(written)
    }
    // Also what an earlier call has taken along and not yet written: whoever reads the log next finds it there.
    await Promise.all(recording)
  }

  async function record(events: readonly AuditEvent[]): Promise<void> {
    for (let i = 0; i < events.length; i += store.maxBatch) {
      // A log that cannot be reached must not stop the work that it describes; it is counted instead.
      try {
        await store.record(events.slice(i, i + store.maxBatch))
      } catch {
        telemetry.storeFailed()
      }
    }
  }

  function soon(): void {
    if (waiting.size + answered.size >= MOST_WAITING) void flush()
    else disarm ??= timers.after(EVERY_MS, () => void flush(), 'background')
  }

  return {
    changed(receipt, note) {
      if (sinks.length > 0) tell([toEvent(receipt, note)])
    },
    noticed(receipt, note) {
      const { epoch, state } = receipt
      const id = JSON.stringify([note.event, note.by, note.why, epoch, state, addressId(receipt)])
      const equal = waiting.get(id)
      if (equal) equal.count++
      else waiting.set(id, { event: toEvent(receipt, note), count: 1 })
      soon()
    },
    hit(settled) {
      answered.count(settled)
      soon()
    },
    flush,
  }
}

function toEvent(receipt: Receipt, note: AuditNote): AuditEvent {
  const { tenant, scope, key, at, state, epoch, attempt, fingerprint } = receipt
  return { tenant, scope, key, ...note, at, state, epoch, attempt, fingerprint, count: 1 }
}
