/**
 * The receipt: the stored record of one intent. A `Draft` is what the engine wants stored; the store's clock
 * turns it into a `Receipt`. Plain data, so that every store can keep it in its own way.
 */
import type { AuditNote } from './audit.js'

export const STATES = ['pending', 'released', 'succeeded', 'failed', 'unknown'] as const
export type State = (typeof STATES)[number]

/**
 * How a lapsed lease is recovered: `hold` for a person, `retry` the effect, `check` downstream first.
 * `atomic`: the effect shares the store's transaction, so an attempt that did not settle did nothing.
 */
export const RECOVERIES = ['hold', 'retry', 'check', 'atomic'] as const
export type Recovery = (typeof RECOVERIES)[number]

/** Where a receipt is found. */
export interface Address {
  readonly tenant: string
  readonly scope: string
  readonly key: string
}

interface Content extends Address {
  readonly fingerprint: string
  readonly state: State
  /** The secret of the attempt that owns the receipt, or owned it last. Never leaves the engine. */
  readonly token: string
  /** 1 for the first execution under this receipt. */
  readonly attempt: number
  readonly maxAttempts: number
  readonly recovery: Recovery
  readonly leaseMs: number
  readonly windowMs: number
  /** What came of it, encoded by `outcome.ts`; null while nothing did. */
  readonly outcome: string | null
}

/** What the engine asks a store to write. Null stamps are filled in from the store's clock. */
export interface Draft extends Content {
  /** Null: a new epoch, above every earlier one of this receipt. */
  readonly epoch: number | null
  /** Null: now. */
  readonly createdAt: number | null
  /** How long the state is good for: the lease of a pending receipt, the window of a settled one; null: for ever. */
  readonly forMs: number | null
  /** The decision that this write is, recorded with it. */
  readonly audit: AuditNote
}

/** What a store holds. Instants are milliseconds of the store's clock. */
export interface Receipt extends Content {
  /** Fencing number: microseconds of the store's clock at the claim, raised past the last one. */
  readonly epoch: number
  readonly createdAt: number
  /** When this state was entered. */
  readonly at: number
  /** When it ends by itself: lease or window; null: never. */
  readonly until: number | null
}

/** A receipt as the world may see it: without its token and its raw outcome. */
export type ReceiptView = Omit<Receipt, 'token' | 'outcome'>

/** The receipt that a draft becomes when it is written at `now` over one whose epoch was `lastEpoch`. */
export function stamp(draft: Draft, now: number, lastEpoch: number): Receipt {
  return asWritten(draft, now, draft.epoch ?? nextEpoch(now, lastEpoch))
}

/** The receipt that a draft became, when the store has said at what time and under which epoch. */
export function asWritten(draft: Draft, now: number, epoch: number): Receipt {
  return {
    tenant: draft.tenant,
    scope: draft.scope,
    key: draft.key,
    fingerprint: draft.fingerprint,
    state: draft.state,
    token: draft.token,
    attempt: draft.attempt,
    maxAttempts: draft.maxAttempts,
    recovery: draft.recovery,
    leaseMs: draft.leaseMs,
    windowMs: draft.windowMs,
    outcome: draft.outcome,
    epoch,
    createdAt: draft.createdAt ?? now,
    at: now,
    until: draft.forMs === null ? null : now + draft.forMs,
  }
}

/** Never backwards: the clock, or one past the last epoch where the clock has not moved on. */
export function nextEpoch(now: number, lastEpoch: number): number {
  return Math.max(Math.floor(now * 1_000), lastEpoch + 1)
}

export function view(receipt: Receipt): ReceiptView {
  return {
    tenant: receipt.tenant,
    scope: receipt.scope,
    key: receipt.key,
    fingerprint: receipt.fingerprint,
    state: receipt.state,
    attempt: receipt.attempt,
    maxAttempts: receipt.maxAttempts,
    recovery: receipt.recovery,
    leaseMs: receipt.leaseMs,
    windowMs: receipt.windowMs,
    epoch: receipt.epoch,
    createdAt: receipt.createdAt,
    at: receipt.at,
    until: receipt.until,
  }
}

let lastTenant = ''
let lastScope = ''
let lastPrefix = '0:0:'

/** One string per address that no other address has: the parts cannot run into each other. */
export function addressId({ tenant, scope, key }: Address): string {
  // Most programs ask about few scopes again and again: the front part is made once for a run of them.
  if (tenant !== lastTenant || scope !== lastScope) {
    lastPrefix = `${tenant.length}:${scope.length}:${tenant}${scope}`
    lastTenant = tenant
    lastScope = scope
  }
  return lastPrefix + key
}
