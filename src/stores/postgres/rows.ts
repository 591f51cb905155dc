/** Rows of an answer, as what the seam speaks of. */
import type { AuditEvent, AuditName } from '../../core/audit.js'
import type { Receipt, Recovery, State } from '../../core/receipt.js'

/** One row, its values in the order of the statement's columns. */
export type Row = readonly unknown[]

/** The receipt that begins at column `from` of a row; see `receiptColumns` in statements.ts. */
export function receiptOf(row: Row, from: number): Receipt {
  return {
    tenant: row[from] as string,
    scope: row[from + 1] as string,
    key: row[from + 2] as string,
    fingerprint: row[from + 3] as string,
    state: row[from + 4] as State,
    token: row[from + 5] as string,
    attempt: Number(row[from + 6]),
    maxAttempts: Number(row[from + 7]),
    recovery: row[from + 8] as Recovery,
    leaseMs: Number(row[from + 9]),
    windowMs: Number(row[from + 10]),
    outcome: row[from + 11] as string | null,
    epoch: Number(row[from + 12]),
    createdAt: Number(row[from + 13]),
    at: Number(row[from + 14]),
    until: row[from + 15] === null ? null : Number(row[from + 15]),
  }
}

/** Without the id in the first column. */
export function eventOf(row: Row): AuditEvent {
  const [, tenant, scope, key, event, by, why, at, state, epoch, attempt, fingerprint, count] = row
  return {
    tenant: tenant as string,
    scope: scope as string,
    key: key as string,
    event: event as AuditName,
    ...(by === null ? {} : { by: by as string }),
    ...(why === null ? {} : { why: why as string }),
    at: Number(at),
    state: state as State | null,
    epoch: Number(epoch),
    attempt: Number(attempt),
    fingerprint: fingerprint as string,
    count: Number(count),
  }
}
