/**
 * Effect and receipt in one transaction: claim by the normal path, then begin, the caller's writes, the settling
 * swap, commit. A lost token rolls everything back. An attempt that did not settle did nothing, so its lapsed lease
 * is always safe to run again, and nothing is ever held.
 */
import { IbidError, leaseLost, storeUnavailable } from '../core/errors.js'
import { encodeValue } from '../core/outcome.js'
import type { Attempt } from '../core/policy.js'
import { type Receipt, asWritten, view } from '../core/receipt.js'
import type { Store } from '../store.js'
import { acquire } from './acquire.js'
import { underLease } from './attempt.js'
import { isAbout, type Once, remember, verdictOf } from './once.js'
import { replay } from './replay.js'
import { type Call, notice, type Room } from './room.js'
import { announce, endingOf, lookInto, settle, type Written } from './settle.js'

export type Work<Tx, T> = (tx: Tx, attempt: Attempt) => T | Promise<T>
type Transact<Tx> = NonNullable<Store<Tx>['transact']>

export async function transact<Tx, T>(room: Room<Tx>, call: Call<T>, work: Work<Tx, T>): Promise<Once<T>> {
  const begin = room.store.transact?.bind(room.store)
  if (!begin) throw noTransactions(room.store.name)
  const acquired = await acquire(room, call)
  if (acquired.kind === 'settled') return replay(room, call, acquired.settled)
  const { receipt, sinceMs } = acquired
  const execution = room.executions.start(call.id, receipt)
  const span = room.telemetry.startSpan(receipt.scope, receipt.attempt)
  let written: Written | undefined
  try {
    const commit = (): ReturnType<typeof commitTogether<Tx, T>> =>
      commitTogether(room, call, begin, receipt, sinceMs, work)
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
  work: Work<Tx, T>,
): Promise<{ readonly value: T; readonly written: Written }> {
  let hasBegun = false
  let asked: { readonly value: T; readonly change: ReturnType<typeof endingOf> } | undefined
  try {
    const done = await underLease(room, receipt, call.terms.timeoutMs, sinceMs, (attempt) =>
      begin(async (tx, swap) => {
        hasBegun = true
        const value = await work(tx, attempt)
        const outcome = encodeValue(value, room.store.maxOutcome)
        const change = endingOf(receipt, { event: 'succeed', outcome })
        const swapped = await swap(change)
        if (!swapped.done) {
          notice(room, receipt, 'stale')
          throw leaseLost(view(receipt))
        }
        asked = { value, change }
        return {
          value,
          change,
          written: { receipt: asWritten(change.next, swapped.now, swapped.epoch), now: swapped.now },
        }
      }),
    )
    announce(room, done.written.receipt, done.change)
    return done
  } catch (error) {
    // The commit itself may have been made although its answer was lost: the receipt knows.
    const written = asked && (await lookInto(room, asked.change).catch(() => undefined))
    if (asked && written) return { value: asked.value, written }
    // What is thrown before the work was asked is the store's, whatever it looks like.
    const reason =
      hasBegun || error instanceof IbidError ? error : storeUnavailable('nothing was executed', error)
    throw await rolledBack(room, receipt, reason)
  }
}

/** Nothing happened. Say so in the receipt as far as the store can be reached, and give the reason on. */
async function rolledBack(room: Room, receipt: Receipt, error: unknown): Promise<unknown> {
  if (isAbout(error, 'LEASE_LOST', receipt) || isAbout(error, 'UPSTREAM_TIMEOUT', receipt)) return error
  const verdict = verdictOf(error, room.store.maxOutcome)
  const ending = verdict?.ending ?? { event: 'release' as const, outcome: null, why: 'rolled back' }
  const written = await settle(room, receipt, ending)
  if (!verdict) return error
  return verdict.error(view(written.receipt))
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
