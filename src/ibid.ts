/**
 * `createIbid`: the front door. Reads and checks what a caller gives (intent, policy, settings), makes a call of it
 * for the engine, and shows receipts the way the world may see them.
 */
import type { AuditEvent } from './core/audit.js'
import { toMs } from './core/duration.js'
import { invalidIntent } from './core/errors.js'
import { checkAddress, checkIntent } from './core/intent.js'
import { onlyKnown } from './core/known.js'
import { decodeOutcome } from './core/outcome.js'
import { over, type Policy, readPolicy, type Terms } from './core/policy.js'
import { type Address, addressId, type Receipt, view } from './core/receipt.js'
import { copyPlain, isPlain } from './core/tagged.js'
import { conditionOf } from './core/transitions.js'
import { createEngine } from './engine/engine.js'
import type { Effect, Once } from './engine/once.js'
import type { Claim, Owned } from './engine/remote.js'
import type { Call } from './engine/room.js'
import type { Seen, Settled } from './engine/settled-cache.js'
import type { Work } from './engine/transact.js'
import { fingerprintOfText, identityText } from './key/fingerprint.js'
import { PAGE, pageSize, statesOf } from './core/queries.js'
import type {
  ClaimPolicy,
  Ibid,
  IbidOptions,
  Intent,
  ReceiptDetail,
  TransactPolicy,
  Where,
} from './surface.js'

export type * from './surface.js'
export type { Settlement } from './engine/remote.js'
export type { ListQuery, LogQuery } from './core/queries.js'
export { mustGoOn } from './engine/attempt.js'
export { realTimers } from './engine/timers.js'
export type { Resolution } from './engine/resolve.js'

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

  /** As it was given: whether those are names is another question. */
  function namedBy(where: Where): Address {
    if (typeof where !== 'object' || where === null)
      throw invalidIntent('the intent is missing', 'give { tenant, scope, key, payload } first')
    const { tenant = options.tenant, scope, key } = where
    return { tenant: tenant as string, scope, key }
  }

  function addressOf(where: Where): Address {
    const address = namedBy(where)
    checkAddress(address)
    return address
  }

  /** What is remembered has been checked before it was. */
  function rememberedAt(address: Address): Settled | undefined {
    const settled = engine.remembered(address)
    if (settled === undefined) checkAddress(address)
    return settled
  }

  function ownedBy(owned: Where & { readonly token: string }): Owned {
    return { ...addressOf(owned), token: owned.token }
  }

  /** What is remembered is given again whatever the terms are now: those are read where something has to be done. */
  function recalled<T>(address: Address, intent: Intent, shared?: 'shared'): Once<T> | undefined {
    const settled = rememberedAt(address)
    return settled && engine.recall<T>(settled, intent.payload, intent.identity, shared)
  }

  /**
   * Apart from `recalled`, which most duplicates do not get beyond: what is set up here would be set up for them. That
   * one has checked the address, which is not read again: an intent can answer otherwise the second time.
   */
  function begin<T, R = Once<T>>(
    address: Address,
    intent: Intent,
    termsOfCall: () => Terms<T>,
    run: (call: Call<T>) => Promise<R>,
  ): Promise<R> | Once<T> {
    const { payload, identity, by, differs } = intent
    const settled = engine.remembered(address)
    checkIntent(intent)
    const terms = termsOfCall()
    const text = identityText(payload, identity)
    const fingerprint = fingerprintOfText(text)
    const isSmall = text.length <= LONGEST_SEEN
    // The text itself is let go: a call is under way for longer than it takes to make it again.
    const seen = (): Seen | undefined => {
      if (!isSmall || !isPlain(payload)) return undefined
      const copy = copyPlain(payload)
      // A member can answer otherwise when it is read again.
      const again = fingerprintOfText(identityText(copy, identity))
      return again === fingerprint ? { payload: copy, identity } : undefined
    }
    const call = { id: addressId(address), address, fingerprint, terms, seen, by, differs }
    return settled ? engine.replay(settled, call) : run(call)
  }

  function beginOnce<T>(address: Address, intent: Intent, effect: Effect<T>, policy: Policy<T> | undefined) {
    const terms = (): Terms<T> => termsOf(policy)
    return begin(address, intent, terms, (call) => engine.once(call, effect))
  }

  const termsOf = <T>(policy: Policy<T> | undefined): Terms<T> => readPolicy(over(defaults, policy))

  return {
    tenant: options.tenant,
    once<T>(intent: Intent, effect: Effect<T>, policy?: Policy<T>) {
      try {
        mustRun(effect)
        const address = namedBy(intent)
        return Promise.resolve(recalled<T>(address, intent) ?? beginOnce(address, intent, effect, policy))
      } catch (error) {
        return Promise.reject(error)
      }
    },
    recall: <T>(intent: Intent) => recalled<T>(namedBy(intent), intent, 'shared'),
    async transact<T>(intent: Intent, work: Work<Tx, T>, policy?: TransactPolicy) {
      mustRun(work)
      const terms = (): Terms<T> => ({ ...termsOf<T>(policy), recovery: 'atomic', check: undefined })
      const address = namedBy(intent)
      const run = (call: Call<T>): Promise<Once<T>> => engine.transact(call, work)
      return recalled<T>(address, intent) ?? begin(address, intent, terms, run)
    },
    async claim<T>(intent: Intent, policy: ClaimPolicy = {}): Promise<Claim<T>> {
      const { token, recovery, wait = 0, ...others } = policy
      const isChecked = recovery === 'check'
      const rest: Policy<T> = recovery === undefined || isChecked ? others : { ...others, recovery }
      const terms = termsOf<T>({ ...rest, wait })
      const asked = isChecked ? { ...terms, recovery: 'check' as const, check: undefined } : terms
      const run = (call: Call<T>): Promise<Claim<T>> => engine.claim(call, token)
      const address = namedBy(intent)
      const known = recalled<T>(address, intent)
      const claim = known ?? (await begin<T, Claim<T>>(address, intent, () => asked, run))
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
