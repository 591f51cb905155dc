/** Receipts and audit events as rows: the order of the columns is that of statements.ts. */
import { type AuditEvent, type AuditNote, writable } from '../../core/audit.js'
import type { Receipt } from '../../core/receipt.js'
import { EVENT, EVENT_NAMES, RECOVERY, RECOVERY_NAMES, STATE, STATE_NAMES } from './codes.js'
import type { Row, Value } from './open.js'

export function toReceipt(row: Row): Receipt {
  return {
    tenant: row[1] as string,
    scope: row[2] as string,
    key: row[3] as string,
    fingerprint: row[4] as string,
    state: STATE_NAMES[row[5] as number] as Receipt['state'],
    token: row[6] as string,
    attempt: row[7] as number,
    maxAttempts: row[8] as number,
    recovery: RECOVERY_NAMES[row[9] as number] as Receipt['recovery'],
    leaseMs: row[10] as number,
    windowMs: row[11] as number,
    outcome: row[12] as string | null,
    epoch: row[13] as number,
    createdAt: row[14] as number,
    at: row[15] as number,
    until: row[16] as number | null,
  }
}

/** The values of the columns that a swap changes, in their order. */
export function changedValues(receipt: Receipt, { event, by, why }: AuditNote): Value[] {
  return [
    STATE[receipt.state],
    receipt.until,
    receipt.at,
    receipt.epoch,
    receipt.attempt,
    receipt.maxAttempts,
    RECOVERY[receipt.recovery],
    receipt.leaseMs,
    receipt.windowMs,
    receipt.createdAt,
    EVENT[event],
    writable(by),
    writable(why),
    receipt.token,
    receipt.fingerprint,
    receipt.outcome,
  ]
}

/** Rows of audit.ts: at, event, state, epoch, attempt, count, by, why, fingerprint, tenant, scope, key, after an id. */
export function toEvent(row: Row): AuditEvent {
  const by = row[7] as string | null
  const why = row[8] as string | null
  return {
    tenant: row[10] as string,
    scope: row[11] as string,
    key: row[12] as string,
    event: EVENT_NAMES[row[2] as number] as AuditEvent['event'],
    ...(by === null ? {} : { by }),
    ...(why === null ? {} : { why }),
    at: row[1] as number,
    state: row[3] === null ? null : (STATE_NAMES[row[3] as number] as AuditEvent['state']),
    epoch: row[4] as number,
    attempt: row[5] as number,
    fingerprint: row[9] as string,
    count: row[6] as number,
  }
}
