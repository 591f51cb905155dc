/** claim: insert if no receipt has the address. The look and the insert are under one lock. */
import { writable } from '../../core/audit.js'
import { type Draft, nextEpoch } from '../../core/receipt.js'
import { EVENT, RECOVERY, STATE } from './codes.js'
import type { Connection } from './connection.js'
import { findReceipt } from './get.js'
import type { Row, Statement } from './open.js'

/** The epoch of one that was inserted, or the row that was there. */
export type ClaimAnswer = number | Row

export function claim(connection: Connection, draft: Draft, now: number): ClaimAnswer {
  const found = findReceipt(connection, draft)
  if (found) return found
  const { sql, catalogue } = connection
  const epoch = draft.epoch ?? nextEpoch(now, catalogue.floorEpoch)
  if (isFirst(draft)) {
    claimFirst(sql.claimFirst, catalogue.give(draft), draft, epoch, now)
    return epoch
  }
  sql.claim.get(
    catalogue.give(draft),
    draft.tenant,
    draft.scope,
    draft.key,
    draft.fingerprint,
    STATE[draft.state],
    draft.token,
    draft.attempt,
    draft.maxAttempts,
    RECOVERY[draft.recovery],
    draft.leaseMs,
    draft.windowMs,
    draft.outcome,
    epoch,
    draft.createdAt ?? now,
    now,
    draft.forMs === null ? null : now + draft.forMs,
    EVENT[draft.audit.event],
    writable(draft.audit.by),
    writable(draft.audit.why),
  )
  return epoch
}

/** With a statement that binds as `claimFirst` does. */
export function claimFirst(statement: Statement, id: number, draft: Draft, epoch: number, now: number): void {
  statement.get(
    id,
    draft.tenant,
    draft.scope,
    draft.key,
    draft.fingerprint,
    draft.token,
    draft.maxAttempts,
    RECOVERY[draft.recovery],
    draft.leaseMs,
    draft.windowMs,
    epoch,
    now,
    draft.forMs === null ? null : now + draft.forMs,
  )
}

/** As the engine writes almost all of them. */
export function isFirst({ state, attempt, outcome, createdAt, audit }: Draft): boolean {
  return (
    state === 'pending' &&
    attempt === 1 &&
    outcome === null &&
    createdAt === null &&
    audit.event === 'claimed' &&
    audit.by === undefined &&
    audit.why === undefined
  )
}
