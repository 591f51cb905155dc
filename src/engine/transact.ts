/**
 * Effect and receipt in one transaction: claim by the normal path, then begin, the caller's writes, the settling
 * swap, commit. A lost token rolls everything back. An attempt that did not settle did nothing, so its lapsed lease
 * is always safe to run again, and nothing is ever held.
 */
import { IbidError, leaseLost, storeUnavailable } from '../core/errors.js'
import { encodeValue } from '../core/outcome.js'
import type { Attempt } from '../core/policy.js'
import { type Receipt, type ReceiptView, asWritten, view } from '../core/receipt.js'
import type { Store, Swap, Swapped } from '../store.js'
import { acquire } from './acquire.js'
import { underLease } from './attempt.js'
import { isAbout, type Once, readable, remember, verdictOf } from './once.js'
import { replay } from './replay.js'
import { type Call, notice, type Room } from './room.js'
import { announce, type Ending, endingOf, settle, type Written } from './settle.js'
import type { AttemptSpan } from './telemetry.js'

export type Work<Tx, T> = (tx: Tx, attempt: Attempt) => T | Promise<T>
type Transact<Tx> = NonNullable<Store<Tx>['transact']>

interface Together<T> {
  readonly value: T
  readonly written: Written
}

/** How far a transaction has come. */
interface Progress<T> {
  hasBegun: boolean
  /** What the store was asked to commit: from then on only the receipt knows whether it was. */
  asked: { readonly value: T; readonly change: Swap } | undefined
  /** Settles when the store has committed or rolled back. */
  ended: Promise<unknown> | undefined
}

const ROLLED_BACK: Ending = { event: 'release', outcome: null, why: 'rolled back' }

export async function transact<Tx, T>(room: Room<Tx>, call: Call<T>, work: Work<Tx, T>): Promise<Once<T>> {
  const begin = room.store.transact?.bind(room.store)
  if (!begin) throw noTransactions(room.store.name)
  const acquired = await acquire(room, call)
  if (acquired.kind === 'settled') return replay(room, call, acquired.settled)
  const { receipt, sinceMs, isFirst } = acquired
  const execution = room.executions.start(call.id, receipt)
  let span: AttemptSpan | undefined
  let written: Written | undefined
  try {
    span = room.telemetry.startSpan(receipt.scope, receipt.attempt)
    const commit = (): Promise<Together<T>> =>
      commitTogether(room, call, begin, receipt, sinceMs, isFirst, work)
    const result = await (span ? span.run(commit) : commit())
    written = result.written
    return { value: result.value, replayed: false, receipt: view(written.receipt) }
  } catch (error) {
    span?.failed()
    throw error
  } finally {
    span?.end()
    execution.end(() => written && remember(room, written))
  }
}

async function commitTogether<Tx, T>(
  room: Room<Tx>,
  call: Call<T>,
  begin: Transact<Tx>,
  receipt: Receipt,
  sinceMs: number,
  isFirst: boolean,
  work: Work<Tx, T>,
): Promise<Together<T>> {
  const { timeoutMs } = call.terms
  const progress: Progress<T> = { hasBegun: false, asked: undefined, ended: undefined }
  try {
    const done = await underLease(room, receipt, timeoutMs, sinceMs, isFirst, (attempt) => {
      const begun = begin((tx, swap) => workAndSwap(room, receipt, attempt, progress, tx, swap, work))
      progress.ended = begun
      return begun
    })
    announce(room, done.written.receipt, done.change)
    return done
  } catch (error) {
    return await orRolledBack(room, receipt, timeoutMs, progress, readable(error))
  }
}

/** All that is done between the begin and the commit of the store. Where it throws, the store rolls back. */
async function workAndSwap<Tx, T>(
  room: Room<Tx>,
  receipt: Receipt,
  attempt: Attempt,
  progress: Progress<T>,
  tx: Tx,
  swap: (change: Swap) => Promise<Swapped>,
  work: Work<Tx, T>,
): Promise<Together<T> & { readonly change: Swap }> {
  const { signal } = attempt
  // The store may have let it wait for its turn for longer than it had.
  signal.throwIfAborted()
  progress.hasBegun = true
  const value = await orAborted(signal, work(tx, attempt))
  const outcome = encodeValue(value, room.store.maxOutcome)
  const change = endingOf(receipt, { event: 'succeed', outcome })
  const askedMs = room.timers.elapsedMs()
  const swapped = await swap(change)
  if (!swapped.done) {
    notice(room, receipt, 'stale')
    throw leaseLost(view(receipt))
  }
  // The caller may have been told in the meantime that nothing happened: then nothing may be committed.
  signal.throwIfAborted()
  progress.asked = { value, change }
  const written = { receipt: asWritten(change.next, swapped.now, swapped.epoch), now: swapped.now, askedMs }
  return { value, change, written }
}

/** Work that hangs is not waited for: until it ends, the store keeps the transaction and its locks. */
function orAborted<T>(signal: AbortSignal, result: T | Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
    Promise.resolve(result).then(resolve, reject)
  })
}

/**
 * Nothing happened, unless the commit was made and only its answer was lost. Say so in the receipt as far as the store
 * can be reached, and give the reason on; or find there that it was made.
 */
async function orRolledBack<T>(
  room: Room,
  receipt: Receipt,
  timeoutMs: number,
  { hasBegun, asked, ended }: Progress<T>,
  error: unknown,
): Promise<Together<T>> {
  if (!asked && isAbout(error, 'LEASE_LOST', receipt)) throw error
  const isLate = isAbout(error, 'UPSTREAM_TIMEOUT', receipt)
  if (isLate && hasBegun && !asked) await atMost(room, receipt.leaseMs, ended)
  const verdict = verdictOf(error, room.store.maxOutcome)
  const written = await settle(room, receipt, verdict?.ending ?? ROLLED_BACK, asked?.change)
  const shown = view(written.receipt)
  if (asked && shown.state === asked.change.next.state) return { value: asked.value, written }
  if (verdict) throw verdict.error(shown)
  if (isLate) throw tooLate(shown, timeoutMs)
  // What is thrown before the work was asked is the store's, whatever it looks like.
  throw hasBegun || error instanceof IbidError ? error : storeUnavailable('nothing was executed', error)
}

/** A key that is given back while the store still rolls back would wait for the locks of that. */
function atMost(room: Room, ms: number, ended: Promise<unknown> | undefined): Promise<void> {
  return new Promise((resolve) => {
    const disarm = room.timers.after(ms, resolve)
    const over = (): void => {
      disarm()
      resolve()
    }
    Promise.resolve(ended).then(over, over)
  })
}

function tooLate(receipt: ReceiptView, timeoutMs: number): IbidError {
  return new IbidError(`the work did not end within ${timeoutMs} ms; it was rolled back: nothing happened`, {
    code: 'UPSTREAM_TIMEOUT',
    retriable: true,
    action: 'repeat the same call with the same key, with more time where it needs that',
    receipt,
  })
}

function noTransactions(store: string): IbidError {
  return new IbidError(
    `the ${store} store has no transactions that an effect could share; nothing was executed`,
    {
      code: 'INVALID_INTENT',
      retriable: false,
      action: 'use once() with a recovery policy, or a store with transactions: sqlite, postgres',
    },
  )
}
