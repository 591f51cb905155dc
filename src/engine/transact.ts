/**
 * Effect and receipt in one transaction: claim by the normal path, then begin, the caller's writes, the settling
 * swap, commit. A lost token rolls everything back. An attempt that did not settle did nothing, so its lapsed lease
 * is always safe to run again, and nothing is ever held.
 */
import { IbidError, leaseLost, storeUnavailable } from '../core/errors.js'
import { encodeValue } from '../core/outcome.js'
import type { Attempt } from '../core/policy.js'
import { type Receipt, asWritten, view } from '../core/receipt.js'
import type { Store, Swap } from '../store.js'
import { acquire } from './acquire.js'
import { underLease } from './attempt.js'
import { isAbout, type Once, remember, verdictOf } from './once.js'
import { replay } from './replay.js'
import { type Call, notice, type Room } from './room.js'
import { announce, type Ending, endingOf, settle, type Written } from './settle.js'

export type Work<Tx, T> = (tx: Tx, attempt: Attempt) => T | Promise<T>
type Transact<Tx> = NonNullable<Store<Tx>['transact']>

interface Together<T> {
  readonly value: T
  readonly written: Written
}

/** What the store was asked to commit: from then on only the receipt knows whether it was. */
interface Asked<T> {
  readonly value: T
  readonly change: Swap
}

const ROLLED_BACK: Ending = { event: 'release', outcome: null, why: 'rolled back' }

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
    const commit = (): Promise<Together<T>> => commitTogether(room, call, begin, receipt, sinceMs, work)
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
): Promise<Together<T>> {
  let hasBegun = false
  let asked: Asked<T> | undefined
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
    // What is thrown before the work was asked is the store's, whatever it looks like.
    const reason =
      hasBegun || error instanceof IbidError ? error : storeUnavailable('nothing was executed', error)
    return await orRolledBack(room, receipt, reason, asked)
  }
}

/**
 * Nothing happened, unless the commit was made and only its answer was lost. Say so in the receipt as far as the store
 * can be reached, and give the reason on; or find there that it was made.
 */
async function orRolledBack<T>(
  room: Room,
  receipt: Receipt,
  error: unknown,
  asked: Asked<T> | undefined,
): Promise<Together<T>> {
  const isOver = isAbout(error, 'LEASE_LOST', receipt) || isAbout(error, 'UPSTREAM_TIMEOUT', receipt)
  if (isOver && !asked) throw error
  const verdict = verdictOf(error, room.store.maxOutcome)
  const written = await settle(room, receipt, verdict?.ending ?? ROLLED_BACK, asked?.change)
  if (asked && written.receipt.state === asked.change.next.state) return { value: asked.value, written }
  throw verdict ? verdict.error(view(written.receipt)) : error
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
