/**
 * A receipt as it stands in an archive: for audit, not for replay. Times are UTC, the outcome is what the effect
 * came to, and (tenant, scope, key, epoch) names it for good. The attempt's token is a secret and is not written.
 */
import type { Receipt } from '../../core/receipt.js'

export interface ArchivedReceipt {
  readonly tenant: string
  readonly scope: string
  readonly key: string
  readonly epoch: number
  readonly state: string
  readonly attempt: number
  readonly recovery: string
  readonly fingerprint: string
  readonly created_at: string
  readonly settled_at: string
  readonly ends_at: string | null
  readonly window_ms: number
  /** JSON text: {"value":…}, {"rich":…}, {"error":…} or {"lost":…}; null where it was left out. */
  readonly outcome: string | null
}

export function toRow(receipt: Receipt, withOutcome: boolean): ArchivedReceipt {
  return {
    tenant: receipt.tenant,
    scope: receipt.scope,
    key: receipt.key,
    epoch: receipt.epoch,
    state: receipt.state,
    attempt: receipt.attempt,
    recovery: receipt.recovery,
    fingerprint: receipt.fingerprint,
    created_at: iso(receipt.createdAt),
    settled_at: iso(receipt.at),
    ends_at: receipt.until === null ? null : iso(receipt.until),
    window_ms: receipt.windowMs,
    outcome: withOutcome ? receipt.outcome : null,
  }
}

function iso(ms: number): string {
  return new Date(ms).toISOString()
}
