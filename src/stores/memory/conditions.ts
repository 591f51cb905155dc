/** The questions that the memory store asks of a receipt or an event. */
import type { AuditEvent } from '../../core/audit.js'
import type { Address, Receipt } from '../../core/receipt.js'
import type { AuditQuery, ScanQuery, Swap } from '../../store.js'

export function isAsExpected(receipt: Receipt, expect: Swap['expect']): boolean {
  return (
    receipt.token === expect.token &&
    receipt.state === expect.state &&
    (expect.until === undefined || receipt.until === expect.until)
  )
}

export function isWanted(receipt: Receipt, query: ScanQuery, now: number): boolean {
  return (
    isAbout(receipt, query) &&
    (query.states === undefined || query.states.includes(receipt.state)) &&
    (query.ended !== true || hasEnded(receipt, now))
  )
}

function isAbout(subject: Receipt | AuditEvent, query: Partial<Address> | ScanQuery): boolean {
  return (
    (query.tenant === undefined || subject.tenant === query.tenant) &&
    (query.scope === undefined || subject.scope === query.scope) &&
    (query.key === undefined || subject.key === query.key)
  )
}

export function isAsked(event: AuditEvent, query: AuditQuery): boolean {
  return isAbout(event, query) && (query.since === undefined || event.at >= query.since)
}

/** A pending receipt waits for its recovery and an unknown one for a person, however long that takes. */
export function isForgettable(receipt: Receipt, now: number): boolean {
  return receipt.state !== 'pending' && receipt.state !== 'unknown' && hasEnded(receipt, now)
}

function hasEnded(receipt: Receipt, now: number): boolean {
  return receipt.until !== null && receipt.until <= now
}
