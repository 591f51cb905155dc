/**
 * THE seam. A store is a conditional insert and a compare-and-swap over receipts, in batches, with a clock
 * of its own. It takes no decisions: those are in core/transitions.ts. `testStore` decides whether an
 * implementation is one.
 *
 * Every method rejects with any error when the store cannot answer. The engine treats a rejected call as
 * one that may or may not have been carried out.
 */
import type { AuditEvent } from './core/audit.js'
import type { Address, Draft, Receipt, State } from './core/receipt.js'

/** `Tx` is what a caller's writes go through in `transact`: each store's own client shape. */
export interface Store<Tx = unknown> {
  /** For people: 'sqlite', 'postgres', … */
  readonly name: string
  /** The largest batch it wants, and how many batches it can work on at once. */
  readonly maxBatch: number
  readonly lanes: number
  /** The longest outcome it can keep, in characters. A longer one is settled as done, not retained. */
  readonly maxOutcome: number

  /**
   * For each, in order: insert it if no receipt has its address, expired or not. Otherwise what is there.
   * Atomic per receipt. `now` is the store's clock, read in the same operation.
   * The audit note of a receipt that was inserted is written with it.
   */
  claim(wanted: readonly Draft[]): Promise<readonly Claimed[]>

  /**
   * For each, in order: replace the receipt if it is still as expected. Atomic per receipt. A change that keeps
   * its token, and is given an epoch, keeps all that was written with that claim: epoch, attempt, terms, createdAt.
   * The audit note of a change that was made is written with it.
   */
  swap(changes: readonly Swap[]): Promise<readonly Swapped[]>

  /** Reads, never from a replica or a cache. Undefined: no such receipt. */
  get(addresses: readonly Address[]): Promise<Looked>

  /** One page of receipts, in a stable order. */
  scan(query: ScanQuery): Promise<ScanPage>

  /**
   * Delete up to `limit` receipts whose window has ended (settled or released, never pending or unknown),
   * each with an `expired` audit event, and up to `limit` audit events older than `auditMs`: more only where a store
   * keeps the events of a batch as one thing that it cannot cut, and then no more than that one.
   */
  purge(limit: number, auditMs: number): Promise<Purged>

  /**
   * As `purge`, for named receipts and nothing else: deletes each of them that is still that claim, settled or
   * released, and past its window, with an `expired` audit event. The others stay. Answers how many it deleted.
   */
  forget(claims: readonly ReceiptClaim[]): Promise<number>

  /** Append decisions that changed no receipt; `at` is replaced by the store's clock. */
  record(events: readonly AuditEvent[]): Promise<void>

  /** One page of the audit log, in the order of the log: oldest first, unless asked for otherwise. */
  audit(query: AuditQuery): Promise<AuditPage>

  /** Is it set up so that the promises hold? */
  check(): Promise<StoreReport>

  close(): Promise<void>

  /** Calls `listener` when a receipt stops being pending, as far as it is told. Only a hint: waiters also poll. */
  watch?(listener: (address: Address) => void): () => void

  /**
   * Runs `work` in one transaction of this store and commits it; rolls back when `work` throws.
   * `swap` does one compare-and-swap inside it.
   */
  transact?<T>(work: (tx: Tx, swap: (change: Swap) => Promise<Swapped>) => Promise<T>): Promise<T>
}

export type Claimed =
  | { readonly won: true; readonly now: number; readonly epoch: number }
  | { readonly won: false; readonly now: number; readonly found: Receipt }

export interface Swap {
  readonly expect: {
    readonly token: string
    readonly state: State
    /** Compared only where it is given: a lease that was renewed in the meantime is no longer the same. */
    readonly until?: number | null
  }
  readonly next: Draft
}

export type Swapped =
  | { readonly done: true; readonly now: number; readonly epoch: number }
  | { readonly done: false; readonly now: number }

export interface Looked {
  readonly now: number
  readonly receipts: readonly (Receipt | undefined)[]
}

export interface ScanQuery {
  readonly tenant?: string | undefined
  readonly scope?: string | undefined
  readonly key?: string | undefined
  readonly states?: readonly State[] | undefined
  /** Only receipts whose lease or window has ended by the store's clock. */
  readonly ended?: boolean | undefined
  readonly limit: number
  /** From the page before. */
  readonly cursor?: string | undefined
}

export interface ScanPage {
  readonly now: number
  readonly receipts: readonly Receipt[]
  readonly cursor?: string | undefined
}

export interface Purged {
  readonly receipts: number
  readonly events: number
}

/** One claim of an address: no other ever has its epoch. */
export interface ReceiptClaim extends Address {
  readonly epoch: number
}

export interface AuditQuery extends Partial<Address> {
  /** Only events at this instant of the store's clock or later. */
  readonly since?: number | undefined
  /** From the newest backwards, to look back; to miss nothing, follow the log oldest first. */
  readonly newestFirst?: boolean | undefined
  readonly limit: number
  /** From a page before of the same query. */
  readonly cursor?: string | undefined
}

export interface AuditPage {
  readonly events: readonly AuditEvent[]
  /**
   * Where to go on. Oldest first, also given on the last page, so that a reader can follow the log; newest first,
   * undefined when there is nothing older.
   */
  readonly cursor: string | undefined
}

export interface StoreFinding {
  /** `error`: the engine refuses to work with it. */
  readonly level: 'error' | 'warning'
  readonly code: string
  readonly message: string
  readonly remedy: string
}

export interface StoreReport {
  readonly store: string
  readonly findings: readonly StoreFinding[]
  /**
   * Versions and settings worth knowing. `receipts`: how many there are; `receiptsAbout`: roughly, where counting them
   * would take long.
   */
  readonly facts: Readonly<Record<string, string | number | boolean>>
}
