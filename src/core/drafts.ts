/**
 * From a receipt and an allowed row of the table to what a store is asked to write. Pure: the store's clock
 * fills in the stamps. Every write that the engine makes is one of these.
 */
import type { AuditNote } from './audit.js'
import type { Terms } from './policy.js'
import type { Address, Draft, Receipt, State } from './receipt.js'
import { type Event, findRow, type Row } from './transitions.js'

// Drafts are written out member by member: on the hot path a spread costs more than the store's whole insert.

/** A first claim. */
export function claimDraft(address: Address, fingerprint: string, terms: Terms, token: string): Draft {
  return {
    tenant: address.tenant,
    scope: address.scope,
    key: address.key,
    fingerprint,
    state: 'pending',
    token,
    attempt: 1,
    maxAttempts: terms.maxAttempts,
    recovery: terms.recovery,
    leaseMs: terms.leaseMs,
    windowMs: terms.windowMs,
    outcome: null,
    epoch: null,
    createdAt: null,
    forMs: terms.leaseMs,
    audit: CLAIMED,
  }
}

/** A claim of a receipt that is there, by a row that hands it over: `first` is what the caller would have claimed. */
export function handOver(found: Receipt, row: Row, first: Draft): Draft {
  if (row.from === 'expired') return first
  const attempt = row.counts ? found.attempt + 1 : found.attempt
  const audit = row.from === 'lapsed' ? TAKEOVER : CLAIMED
  return { ...first, attempt, createdAt: found.createdAt, audit }
}

/** The owner's own moves. `release`, `succeed` and `fail` start the window; `doubt` has no end of its own. */
export type OwnerEvent = Exclude<Event, 'claim' | 'sweep' | 'resolve'>

export function ownerDraft(receipt: Receipt, event: OwnerEvent, outcome: string | null, why?: string): Draft {
  const note = OWNER_NOTE[event]
  const audit = why === undefined ? note : { event: note.event, why }
  return moved(receipt, OWNER_TO[event], OWNER_HOLDS[event](receipt), outcome, audit)
}

/** A lapsed receipt that nobody may run again (held), or whose attempt certainly did nothing (released). */
export function lapsedDraft(found: Receipt, row: Row, note: AuditNote): Draft {
  return moved(found, row.to, row.to === 'released' ? found.windowMs : null, null, note)
}

/** What a person or a checker says happened to a held one. */
export function resolveDraft(
  found: Receipt,
  to: Extract<State, 'succeeded' | 'failed' | 'released'>,
  outcome: string | null,
  by: string,
  why: string,
): Draft {
  return moved(found, to, found.windowMs, outcome, { event: 'resolved', by, why })
}

function moved(
  receipt: Receipt,
  state: State,
  forMs: number | null,
  outcome: string | null,
  audit: AuditNote,
): Draft {
  return {
    tenant: receipt.tenant,
    scope: receipt.scope,
    key: receipt.key,
    fingerprint: receipt.fingerprint,
    state,
    token: receipt.token,
    attempt: receipt.attempt,
    maxAttempts: receipt.maxAttempts,
    recovery: receipt.recovery,
    leaseMs: receipt.leaseMs,
    windowMs: receipt.windowMs,
    outcome,
    epoch: receipt.epoch,
    createdAt: receipt.createdAt,
    forMs,
    audit,
  }
}

const CLAIMED: AuditNote = { event: 'claimed' }
const TAKEOVER: AuditNote = { event: 'takeover' }

const OWNER_HOLDS: Readonly<Record<OwnerEvent, (receipt: Receipt) => number | null>> = {
  renew: ({ leaseMs }) => leaseMs,
  lapse: () => 0,
  succeed: ({ windowMs }) => windowMs,
  fail: ({ windowMs }) => windowMs,
  release: ({ windowMs }) => windowMs,
  doubt: () => null,
}

const OWNER_NOTE: Readonly<Record<OwnerEvent, AuditNote>> = {
  renew: { event: 'renewed' },
  lapse: { event: 'released' },
  succeed: { event: 'settled' },
  fail: { event: 'settled' },
  release: { event: 'released' },
  doubt: { event: 'held' },
}

/** Where the table leads, whatever the recovery policy. */
const OWNER_TO = Object.fromEntries(
  Object.keys(OWNER_NOTE).map((event) => [
    event,
    (findRow('pending', event as OwnerEvent, 'hold') as Row).to,
  ]),
) as Readonly<Record<OwnerEvent, State>>
