/**
 * The audit log: one event per decision. An event that changes a receipt is written with the change;
 * one that does not (a hit, a refusal) is recorded in batches, and equal ones are counted together.
 */
import type { Address, State } from './receipt.js'

export const AUDIT_EVENTS = [
  'claimed',
  'dedup_hit',
  'in_flight',
  'conflict',
  'takeover',
  'renewed',
  'settled',
  'released',
  'held',
  'resolved',
  'swept',
  'expired',
  'stale',
] as const
export type AuditName = (typeof AUDIT_EVENTS)[number]

/** What the engine knows of a decision before the store has stamped it. */
export interface AuditNote {
  readonly event: AuditName
  /** Who decided, where that is not the caller: a person, a checker, the sweeper. */
  readonly by?: string | undefined
  readonly why?: string | undefined
}

export interface AuditEvent extends Address, AuditNote {
  /** Milliseconds of the store's clock. */
  readonly at: number
  /** The state that the receipt was in afterwards; null where it is gone. */
  readonly state: State | null
  readonly epoch: number
  readonly attempt: number
  readonly fingerprint: string
  /** How many equal decisions this event stands for. */
  readonly count: number
}

/**
 * What a person or an error message said, for a store whose texts cannot hold a NUL: the sign for what cannot be shown
 * takes its place. The other texts of a receipt are names that were checked, or JSON, which escapes it.
 */
export function writable(said: string | undefined): string | null {
  return said === undefined ? null : said.replaceAll('\0', '\uFFFD')
}
