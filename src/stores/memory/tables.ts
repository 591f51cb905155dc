/**
 * What the memory store holds: receipts, the audit log, and the values that transactions write.
 * Only these functions change it, and none of them awaits.
 */
import type { AuditEvent, AuditNote } from '../../core/audit.js'
import { type Address, addressId, type Receipt } from '../../core/receipt.js'

export interface Entry {
  /** Order of insertion: what a scan's cursor counts. */
  readonly serial: number
  readonly receipt: Receipt
}

export interface Logged {
  readonly serial: number
  readonly event: AuditEvent
}

export interface Tables {
  readonly entries: Map<string, Entry>
  readonly values: Map<string, unknown>
  readonly listeners: Set<(address: Address) => void>
  log: Logged[]
  serial: number
  /** The highest epoch among the purged receipts: whoever comes after one of them starts above it. */
  floor: number
}

export function createTables(): Tables {
  return { entries: new Map(), values: new Map(), listeners: new Set(), log: [], serial: 0, floor: 0 }
}

/** Inserts or replaces, with its audit note, and tells who waits for the end of a pending receipt. */
export function put(tables: Tables, receipt: Receipt, note: AuditNote): void {
  const id = addressId(receipt)
  const before = tables.entries.get(id)
  tables.entries.set(id, { serial: before?.serial ?? ++tables.serial, receipt: Object.freeze(receipt) })
  append(tables, eventOf(receipt, note))
  if (before?.receipt.state !== 'pending' || receipt.state === 'pending') return
  for (const listener of tables.listeners) listener(receipt)
}

/** Deletes what is past its window, and says so in the log. */
export function forget(tables: Tables, receipt: Receipt, now: number): void {
  tables.entries.delete(addressId(receipt))
  tables.floor = Math.max(tables.floor, receipt.epoch)
  append(tables, { ...eventOf(receipt, { event: 'expired' }), at: now, state: null })
}

export function append(tables: Tables, event: AuditEvent): void {
  tables.log.push({ serial: ++tables.serial, event: Object.freeze(event) })
}

function eventOf(receipt: Receipt, note: AuditNote): AuditEvent {
  const { tenant, scope, key, at, state, epoch, attempt, fingerprint } = receipt
  return { tenant, scope, key, ...note, at, state, epoch, attempt, fingerprint, count: 1 }
}
