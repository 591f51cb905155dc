/**
 * `createIbid`: the front door. Reads and checks what a caller gives (intent, policy, settings), makes a call of it
 * for the engine, and shows receipts the way the world may see them.
 */
import type { AuditEvent } from './core/audit.js'
import { type Duration, toMs } from './core/duration.js'
import { invalidIntent, type Rejected } from './core/errors.js'
import { checkAddress } from './core/intent.js'
import { onlyKnown } from './core/known.js'
import { decodeOutcome } from './core/outcome.js'
import { type Policy, readPolicy, type Terms } from './core/policy.js'
import { type Address, addressId, type Receipt, type ReceiptView, view } from './core/receipt.js'
import { copyPlain, isPlain } from './core/tagged.js'
import { conditionOf } from './core/transitions.js'
import type { AuditSink } from './engine/auditor.js'
import { createEngine } from './engine/engine.js'
import type { Swept } from './engine/housekeeping.js'
import type { Effect, Once } from './engine/once.js'
import type { Claim, Owned, Settlement } from './engine/remote.js'
import type { Resolution, Resolver } from './engine/resolve.js'
import type { Call } from './engine/room.js'
import type { Seen } from './engine/settled-cache.js'
import type { Timers } from './engine/timers.js'
import type { Work } from './engine/transact.js'
import { fingerprintOfText, identityText } from './key/fingerprint.js'
import type { Identity } from './key/identity.js'
import { type ListQuery, type LogQuery, PAGE, pageSize, statesOf } from './core/queries.js'
import type { Store, StoreReport } from './store.js'

export type { Settlement } from './engine/remote.js'
export type { ListQuery, LogQuery } from './core/queries.js'
export { realTimers } from './engine/timers.js'
export type { Resolution } from './engine/resolve.js'

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
  /** A duplicate of what this process remembers as settled, answered at once. Its value is shared, and frozen. */
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

const KNOWN = [
  'store',
  'tenant',
  'policy',
  'cache',
  'audit',
  'housekeeping',
  'auditWindow',
  'timers',
  'newToken',
] satisfies (keyof IbidOptions)[]
const CACHE = { maxEntries: 10_000, maxCharacters: 64 * 1024 * 1024 }
/** Larger payloads are hashed at every replay rather than kept. */
const LONGEST_SEEN = 4_096

export function createIbid<Tx = unknown>(options: IbidOptions<Tx>): Ibid<Tx> {
  if (typeof options?.store?.claim !== 'function') {
    throw invalidIntent(
      'createIbid got no store',
      "give it one: createIbid({ store: sqliteStore('ibid.db') })",
    )
  }
  onlyKnown(options, KNOWN, 'createIbid')
  if (options.tenant !== undefined) checkAddress({ tenant: options.tenant, scope: 'scope', key: 'key' })
  const defaults = options.policy
  readPolicy(defaults)
  const engine = createEngine(options.store, {
    cache: options.cache === false ? { maxEntries: 0, maxCharacters: 0 } : { ...CACHE, ...options.cache },
    sinks: options.audit === undefined ? [] : [options.audit].flat(),
    sweepEveryMs:
      options.housekeeping === false ? 0 : toMs(options.housekeeping?.every ?? '1m', 'housekeeping.every'),
    auditMs: toMs(options.auditWindow ?? '30d', 'auditWindow'),
    timers: options.timers,
    newToken: options.newToken,
  })

  function addressOf(where: Where): Address {
    if (typeof where !== 'object' || where === null) {
      throw invalidIntent('the intent is missing', 'give { tenant, scope, key, payload } first')
    }
    const { tenant = options.tenant, scope, key } = where
    const address = { tenant: tenant as string, scope, key }
    checkAddress(address)
    return address
  }

  function ownedBy(owned: Where & { readonly token: string }): Owned {
    return { ...addressOf(owned), token: owned.token }
  }

  function begin<T, R = Once<T>>(
    intent: Intent,
    terms: Terms<T>,
    run: (call: Call<T>) => Promise<R>,
  ): Promise<R> | Once<T> {
    const address = addressOf(intent)
    const { payload, identity, by, differs } = intent
    const settled = engine.remembered(address)
    const known = settled && engine.recall<T>(settled, payload, identity)
    if (known) return known
    const text = identityText(payload, identity)
    const seen = (): Seen | undefined =>
      text.length <= LONGEST_SEEN && isPlain(payload) ? { payload: copyPlain(payload), identity } : undefined
    const fingerprint = fingerprintOfText(text)
    const call = { id: addressId(address), address, fingerprint, terms, seen, by, differs }
    return settled ? engine.replay(settled, call) : run(call)
  }

  function termsOf<T>(policy: Policy<T> | undefined): Terms<T> {
    if (defaults === undefined || typeof policy !== 'object' || policy === null)
      return readPolicy((policy === undefined ? defaults : policy) as Policy<T>)
    const merged: Record<string, unknown> = { ...defaults }
    // A member without a value declares nothing: the program's own choice holds, and not the one of the house.
    for (const [field, value] of Object.entries(policy)) if (value !== undefined) merged[field] = value
    return readPolicy(merged as Policy<T>)
  }

  return {
    tenant: options.tenant,
    once<T>(intent: Intent, effect: Effect<T>, policy?: Policy<T>) {
      try {
        mustRun(effect)
        return Promise.resolve(begin(intent, termsOf(policy), (call) => engine.once(call, effect)))
      } catch (error) {
        return Promise.reject(error)
      }
    },
    recall<T>(intent: Intent) {
      const settled = engine.remembered(addressOf(intent))
      return settled && engine.recall<T>(settled, intent.payload, intent.identity, 'shared')
    },
    async transact<T>(intent: Intent, work: Work<Tx, T>, policy?: TransactPolicy) {
      mustRun(work)
      const terms: Terms<T> = { ...termsOf<T>(policy), recovery: 'atomic', check: undefined }
      return begin(intent, terms, (call) => engine.transact(call, work))
    },
    async claim<T>(intent: Intent, policy: ClaimPolicy = {}) {
      const { token, recovery, wait = 0, ...others } = policy
      const isChecked = recovery === 'check'
      const rest: Policy<T> = recovery === undefined || isChecked ? others : { ...others, recovery }
      const terms = termsOf<T>({ ...rest, wait })
      const asked = isChecked ? { ...terms, recovery: 'check' as const, check: undefined } : terms
      const claim = await begin<T, Claim<T>>(intent, asked, (call) => engine.claim(call, token))
      return 'claimed' in claim ? claim : { claimed: false as const, ...claim }
    },
    async renew(owned) {
      return engine.renew(ownedBy(owned))
    },
    async settle(owned, settlement) {
      return engine.settle(ownedBy(owned), settlement)
    },
    async wait(where, time) {
      const { receipt, now } = await engine.wait(addressOf(where), toMs(time?.for, 'for'))
      return receipt && conditionOf(receipt, now) !== 'expired' ? detail(receipt) : undefined
    },
    async get(where) {
      const { now, receipt } = await engine.look(addressOf(where))
      return receipt && conditionOf(receipt, now) !== 'expired' ? detail(receipt) : undefined
    },
    async list(query = {}) {
      const { tenant = options.tenant, scope, key, cursor } = query
      const limit = pageSize(query.limit)
      const states = statesOf(query)
      const page = await engine.scan({ tenant, scope, key, states, limit, cursor })
      const live = page.receipts.filter((receipt) => conditionOf(receipt, page.now) !== 'expired')
      return { receipts: live.map(view), cursor: page.cursor }
    },
    async history(where) {
      const events: AuditEvent[] = []
      const address = addressOf(where)
      let cursor: string | undefined
      for (;;) {
        const page = await engine.audit({ ...address, limit: PAGE.most, cursor })
        events.push(...page.events)
        if (page.events.length < PAGE.most) return events
        cursor = page.cursor
      }
    },
    async log(query = {}) {
      const { tenant = options.tenant, scope, key, ...rest } = query
      return engine.audit({
        ...(tenant === undefined ? {} : { tenant }),
        ...(scope === undefined ? {} : { scope }),
        ...(key === undefined ? {} : { key }),
        ...rest,
        limit: pageSize(query.limit),
      })
    },
    async resolve(where, resolution, resolver) {
      return engine.resolve(addressOf(where), resolution, resolver)
    },
    sweep: () => engine.sweep(),
    check: () => engine.check(),
    close: () => engine.close(),
  }
}

/** Found out after the claim, this would leave a receipt for a person to decide about. */
function mustRun(effect: unknown): void {
  if (typeof effect === 'function') return
  throw invalidIntent('the effect is not a function', 'give the function that does the work after the intent')
}

function detail(receipt: Receipt): ReceiptDetail {
  const seen = view(receipt)
  if (receipt.outcome === null) return seen
  const outcome = decodeOutcome(receipt.outcome)
  if (outcome.kind === 'value') return { ...seen, value: outcome.value }
  return outcome.kind === 'error' ? { ...seen, error: outcome.error } : seen
}
