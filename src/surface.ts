/** What `createIbid` takes and gives back: the contract of the front door, which `src/ibid.ts` keeps. */
import type { AuditEvent } from './core/audit.js'
import type { Duration } from './core/duration.js'
import type { Rejected } from './core/errors.js'
import type { Policy } from './core/policy.js'
import type { ListQuery, LogQuery } from './core/queries.js'
import type { ReceiptView } from './core/receipt.js'
import type { AuditSink } from './engine/auditor.js'
import type { Swept } from './engine/housekeeping.js'
import type { Effect, Once } from './engine/once.js'
import type { Claim, Settlement } from './engine/remote.js'
import type { Resolution, Resolver } from './engine/resolve.js'
import type { Timers } from './engine/timers.js'
import type { Work } from './engine/transact.js'
import type { Identity } from './key/identity.js'
import type { Store, StoreReport } from './store.js'

export interface IbidOptions<Tx = unknown> {
  readonly store: Store<Tx>
  /** For programs with a single tenant. Without it every intent must name its own. */
  readonly tenant?: string
  /** What holds where a call declares nothing else. */
  readonly policy?: Policy
  /** Settled receipts kept in memory for replays; false: none. */
  readonly cache?: { readonly maxEntries?: number; readonly maxCharacters?: number } | false
  /** Where decisions go besides the store's own audit log. */
  readonly audit?: AuditSink | readonly AuditSink[]
  /** Sweeping and forgetting in the background, every minute; false: only when `sweep()` is called. */
  readonly housekeeping?: { readonly every?: Duration } | false
  /** How long the audit log is kept. Default 30 days. */
  readonly auditWindow?: Duration
  /** For tests and simulations. */
  readonly timers?: Timers
  readonly newToken?: () => string
}

/** Where a receipt is; `tenant` may be left out where createIbid was given one. */
export interface Where {
  readonly tenant?: string | undefined
  readonly scope: string
  readonly key: string
}

/** What somebody wants done once. */
export interface Intent extends Where {
  readonly payload?: unknown
  /** Which part of the payload says what is meant: see `ibid/key`. */
  readonly identity?: Identity
  /** Who asks; goes on record where the key belongs to another payload. */
  readonly by?: string | undefined
  /** Asked only then: what differs from the payload with that fingerprint, in words that may go on record. */
  readonly differs?: ((first: string) => string | undefined) | undefined
}

export type ReceiptDetail = ReceiptView & {
  /** What a succeeded one returned, where that was kept. */
  readonly value?: unknown
  /** Why a failed one was refused. */
  readonly error?: Rejected
}

export interface Ibid<Tx = unknown> {
  /** The single tenant that it was set up for. */
  readonly tenant?: string | undefined
  /** Run `effect` once for this intent; after that, give its result again. */
  once<T>(intent: Intent, effect: Effect<T>, policy?: Policy<T>): Promise<Once<T>>
  /**
   * A duplicate of what this process remembers as settled, answered at once. What JSON can hold is shared by all who
   * ask, and frozen; a value that holds more (a Date, bytes) is read anew for each.
   */
  recall<T>(intent: Intent): Once<T> | undefined
  /** As `once`, with the caller's writes and the receipt in one transaction of the store. */
  transact<T>(intent: Intent, work: Work<Tx, T>, policy?: TransactPolicy): Promise<Once<T>>
  /**
   * The right to do it somewhere else, under a lease: the answer carries a token to renew and settle with.
   * Where it is done already, its result. Everything else is an error that says so, as for `once`.
   */
  claim<T>(intent: Intent, policy?: ClaimPolicy): Promise<Claim<T>>
  renew(owned: Where & { readonly token: string }): Promise<ReceiptView>
  /** How work that was claimed with `claim` ended. Saying it again is the same as saying it once. */
  settle(owned: Where & { readonly token: string }, settlement: Settlement): Promise<ReceiptView>
  /** The receipt as soon as nobody is working on it, or as it is after that time; undefined: there is none. */
  wait(where: Where, time: { readonly for: Duration }): Promise<ReceiptDetail | undefined>
  get(where: Where): Promise<ReceiptDetail | undefined>
  list(
    query?: ListQuery,
  ): Promise<{ readonly receipts: readonly ReceiptView[]; readonly cursor?: string | undefined }>
  /** Every decision about one receipt, oldest first. */
  history(where: Where): Promise<readonly AuditEvent[]>
  /**
   * One page of the decisions about receipts, oldest first: a cursor also comes with the last page, to go on later.
   * Newest first, to look back, there is no cursor when there is nothing older.
   */
  log(
    query?: LogQuery,
  ): Promise<{ readonly events: readonly AuditEvent[]; readonly cursor?: string | undefined }>
  /** Say what happened to a receipt whose outcome is unknown. */
  resolve(where: Where, resolution: Resolution, resolver: Resolver): Promise<ReceiptView>
  sweep(): Promise<Swept>
  check(): Promise<StoreReport>
  /** Waits for what is running, then closes the store. */
  close(): Promise<void>
}

/** A transaction that did not commit did nothing: there is no recovery to choose. */
export type TransactPolicy = Omit<Policy, 'recovery' | 'maxAttempts'>

/** For `claim`. `check`: whoever takes over a lapsed attempt asks downstream before doing it again. */
export interface ClaimPolicy extends Omit<Policy, 'recovery' | 'timeout'> {
  readonly recovery?: 'hold' | 'retry' | 'check' | undefined
  /** A random text of the caller's, 22 characters or more: with it, a claim whose answer was lost is made again. */
  readonly token?: string | undefined
}
