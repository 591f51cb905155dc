/**
 * Decisions on their way to the audit log and the sinks. A change is in the log already, written with it, and
 * only goes to the sinks. A decision that changed nothing is counted with its equals and recorded every second:
 * a storm of duplicates becomes a few rows with large counts, and no caller waits for them.
 */
import type { AuditEvent, AuditNote } from '../core/audit.js'
import { addressId, type Receipt } from '../core/receipt.js'
import type { Store } from '../store.js'
import type { Timers } from './timers.js'

/** Must not throw; what it returns is ignored. */
export type AuditSink = (events: readonly AuditEvent[]) => void

export interface Auditor {
  /** A change that the store has made. */
  changed(receipt: Receipt, note: AuditNote): void
  /** A decision about `receipt` that changed nothing. */
  noticed(receipt: Receipt, note: AuditNote): void
  /** Record what is waiting. */
  flush(): Promise<void>
}

const EVERY_MS = 1_000
const MOST_WAITING = 10_000

export function createAuditor(
  store: Store,
  sinks: readonly AuditSink[],
  timers: Timers,
  onError: (error: unknown) => void,
): Auditor {
  let waiting = new Map<string, { readonly event: AuditEvent; count: number }>()
  let disarm: (() => void) | undefined

  function tell(events: readonly AuditEvent[]): void {
    for (const sink of sinks) {
      try {
        sink(events)
      } catch (error) {
        onError(error)
      }
    }
  }

  async function flush(): Promise<void> {
    disarm?.()
    disarm = undefined
    if (waiting.size === 0) return
    const events = Array.from(waiting.values(), ({ event, count }) => ({ ...event, count }))
    waiting = new Map()
    tell(events)
    for (let i = 0; i < events.length; i += store.maxBatch) {
      // A log that cannot be reached must not stop the work that it describes; it is counted instead.
      await store.record(events.slice(i, i + store.maxBatch)).catch(onError)
    }
  }

  return {
    changed(receipt, note) {
      if (sinks.length > 0) tell([toEvent(receipt, note)])
    },
    noticed(receipt, note) {
      const id = `${note.event} ${note.why ?? ''} ${addressId(receipt)}`
      const equal = waiting.get(id)
      if (equal) equal.count++
      else waiting.set(id, { event: toEvent(receipt, note), count: 1 })
      if (waiting.size >= MOST_WAITING) void flush()
      else disarm ??= timers.after(EVERY_MS, () => void flush(), 'background')
    },
    flush,
  }
}

function toEvent(receipt: Receipt, note: AuditNote): AuditEvent {
  const { tenant, scope, key, at, state, epoch, attempt, fingerprint } = receipt
  return { tenant, scope, key, ...note, at, state, epoch, attempt, fingerprint, count: 1 }
}
