/**
 * The only caller of a store. Puts the parts of one engine together, and lets nothing through before the store has
 * been asked whether it is set up to keep its promises.
 */
import { closed, IbidError, storeUnavailable, unsafeStore } from '../core/errors.js'
import type { Address, Receipt, ReceiptView } from '../core/receipt.js'
import type { AuditPage, AuditQuery, ScanPage, ScanQuery, Store, StoreReport } from '../store.js'
import { type AuditSink, createAuditor } from './auditor.js'
import { createExecutions } from './executions.js'
import { createGroupCommit } from './group-commit.js'
import { keepHouse, sweep, type Swept } from './housekeeping.js'
import { createLeaseKeeper } from './lease-keeper.js'
import { type Effect, once, type Once } from './once.js'
import { type Claim, createRemote, type Owned, type Remote, type Settlement } from './remote.js'
import { recall, replay } from './replay.js'
import { resolve, type Resolution, type Resolver } from './resolve.js'
import type { Call, Room } from './room.js'
import { type CacheLimits, createSettledCache, type Settled } from './settled-cache.js'
import { createTelemetry } from './telemetry.js'
import { createErrands, realTimers, type Timers } from './timers.js'
import { newToken } from './token.js'
import { transact, type Work } from './transact.js'
import { createWaitingRoom } from './waiting-room.js'

export interface EngineOptions {
  readonly cache: CacheLimits
  readonly sinks: readonly AuditSink[]
  /** 0: nothing is swept or purged in the background. */
  readonly sweepEveryMs: number
  readonly auditMs: number
  readonly timers?: Timers | undefined
  readonly newToken?: (() => string) | undefined
}

export interface Engine<Tx> {
  /** A settled action that this process remembers. */
  remembered(address: Address): Settled | undefined
  /** The answer to a duplicate of it, where the payload is one that it was seen with. */
  recall<T>(settled: Settled, payload: unknown, identity: unknown, shared?: 'shared'): Once<T> | undefined
  /** The answer to a duplicate of it, by fingerprint; called without waiting for anything in between. */
  replay<T>(settled: Settled, call: Call<T>): Once<T>
  once<T>(call: Call<T>, effect: Effect<T>): Promise<Once<T>>
  transact<T>(call: Call<T>, work: Work<Tx, T>): Promise<Once<T>>
  /** Together with whatever else is being looked at. */
  look(address: Address): Promise<{ readonly now: number; readonly receipt: Receipt | undefined }>
  /** Claims for work that runs elsewhere. */
  claim<T>(call: Call<T>, token: string | undefined): Promise<Claim<T>>
  renew(owned: Owned): Promise<ReceiptView>
  settle(owned: Owned, settlement: Settlement): Promise<ReceiptView>
  wait(address: Address, forMs: number): ReturnType<Remote['wait']>
  scan(query: ScanQuery): Promise<ScanPage>
  audit(query: AuditQuery): Promise<AuditPage>
  resolve(address: Address, resolution: Resolution, resolver: Resolver): Promise<ReceiptView>
  sweep(): Promise<Swept>
  check(): Promise<StoreReport>
  close(): Promise<void>
}

export function createEngine<Tx>(store: Store<Tx>, options: EngineOptions): Engine<Tx> {
  const timers = options.timers ?? realTimers
  const inside = {
    enter(): void {
      calls++
    },
    leave(): void {
      if (--calls === 0) onIdle?.()
    },
    isOnlyOne: () => calls === 1,
  }
  const room = furnish(store, options, timers, inside, () => closing !== undefined)
  const remote = createRemote(room)
  const stopHousekeeping =
    options.sweepEveryMs > 0 ? keepHouse(room, options.sweepEveryMs, options.auditMs) : undefined
  let isReady = false
  let readying: Promise<void> | undefined
  let closing: Promise<void> | undefined
  let calls = 0
  let onIdle: (() => void) | undefined

  async function makeReady(): Promise<void> {
    const report = await reading(() => store.check())
    const errors = report.findings.filter(({ level }) => level === 'error')
    if (errors.length > 0) throw unsafeStore(errors.map((e) => `${e.message} (${e.remedy})`).join('; '))
    isReady = true
  }

  /** Before any claim. A store that could not answer is asked again by the next call. */
  function ready(): Promise<void> {
    if (closing) return Promise.reject(closed())
    readying ??= makeReady().finally(() => {
      readying = undefined
    })
    return readying
  }

  /** A call that may write: the store is not closed before it has ended. */
  async function counted<T>(run: () => Promise<T>): Promise<T> {
    inside.enter()
    try {
      if (!isReady || closing) await ready()
      return await run()
    } finally {
      inside.leave()
    }
  }

  /** `asked`: by a question of the caller's. One that is refused, for a cursor that is none, will be so every time. */
  async function reading<T>(read: () => Promise<T>, asked?: 'asked'): Promise<T> {
    if (closing) throw closed()
    try {
      return await read()
    } catch (error) {
      if (asked && error instanceof IbidError && error.code === 'INVALID_INTENT') throw error
      room.telemetry.storeFailed()
      throw storeUnavailable('nothing was executed', error)
    }
  }

  async function shut(): Promise<void> {
    stopHousekeeping?.()
    room.waiting.close()
    if (calls > 0) await new Promise<void>((resolve) => (onIdle = resolve))
    room.errands.stop()
    await room.auditor.flush()
    await store.close()
  }

  return {
    remembered: (address) => (closing ? undefined : room.cache.get(address)),
    recall: (settled, payload, identity, shared) => recall(room, settled, payload, identity, shared),
    replay: (settled, call) => replay(room, call, settled, 'at once'),
    once: (call, effect) =>
      isReady && !closing ? once(room, call, effect) : counted(() => once(room, call, effect)),
    transact: (call, work) => counted(() => transact(room, call, work)),
    look: (address) => reading(() => room.commit.get(address)),
    claim: (call, token) => counted(() => remote.claim(call, token)),
    renew: (owned) => counted(() => remote.renew(owned)),
    settle: (owned, settlement) => counted(() => remote.settle(owned, settlement)),
    wait: (address, forMs) => counted(() => remote.wait(address, forMs)),
    scan: (query) => reading(() => store.scan(query), 'asked'),
    async audit(query) {
      await room.auditor.flush()
      return reading(() => store.audit(query), 'asked')
    },
    resolve: (address, resolution, resolver) => counted(() => resolve(room, address, resolution, resolver)),
    sweep: () => counted(() => reading(() => sweep(room, options.auditMs))),
    check: () => reading(() => store.check()),
    close() {
      closing ??= shut()
      return closing
    },
  }
}

function furnish<Tx>(
  store: Store<Tx>,
  options: EngineOptions,
  timers: Timers,
  calls: Room['calls'],
  isClosing: () => boolean,
): Room<Tx> {
  const commit = createGroupCommit(store)
  const telemetry = createTelemetry(store.name)
  return {
    store,
    commit,
    telemetry,
    timers,
    errands: createErrands(timers),
    cache: createSettledCache(options.cache, timers),
    executions: createExecutions(timers),
    waiting: createWaitingRoom(store, commit, timers),
    leases: createLeaseKeeper(timers),
    auditor: createAuditor(store, options.sinks, timers, telemetry),
    newToken: options.newToken ?? newToken,
    calls,
    isClosing,
  }
}
