/**
 * Run an effect once: acquire the receipt, run under its lease, write down how it ended. What the effect throws
 * decides: Rejected is stored, NotExecuted gives the key back, OutcomeUnknown is held; anything else is as
 * ambiguous as a crash, and the declared recovery policy speaks.
 */
import {
  type IbidCode,
  IbidError,
  NotExecuted,
  OutcomeUnknown,
  outcomeUnknown,
  Rejected,
} from '../core/errors.js'
import { encodeError, encodeValue } from '../core/outcome.js'
import type { Attempt, CheckResult } from '../core/policy.js'
import { type Receipt, type ReceiptView, view } from '../core/receipt.js'
import { acquire } from './acquire.js'
import { askCheck, stillOwned, underLease } from './attempt.js'
import type { Execution } from './executions.js'
import { replay } from './replay.js'
import type { Call, Room } from './room.js'
import { type Ending, settle, type Written } from './settle.js'

export interface Once<T> {
  readonly value: T
  /** The effect did not run for this call: the value is the one of an earlier one. */
  readonly replayed: boolean
  readonly receipt: ReceiptView
}

export type Effect<T> = (attempt: Attempt) => T | Promise<T>

export async function once<T>(room: Room, call: Call<T>, effect: Effect<T>): Promise<Once<T>> {
  const acquired = await acquire(room, call)
  if (acquired.kind === 'settled') return replay(room, call, acquired.settled)
  const { receipt } = acquired
  const execution = room.executions.start(call.id, receipt)
  return room.telemetry.inSpan(receipt.scope, receipt.attempt, () =>
    run(room, call, execution, acquired.sinceMs, effect),
  )
}

async function run<T>(
  room: Room,
  call: Call<T>,
  execution: Execution,
  sinceMs: number,
  effect: Effect<T>,
): Promise<Once<T>> {
  const { receipt } = execution
  let written: Written | undefined
  try {
    await stillOwned(room, receipt, sinceMs)
    const { ending, answer } = await perform(room, call, receipt, sinceMs, effect)
    written = await settle(room, receipt, ending)
    return await answer(view(written.receipt))
  } finally {
    execution.end(written && remember(room, call, written))
  }
}

export function remember(
  room: Room,
  call: Call,
  { receipt, now }: Written,
): ReturnType<Room['cache']['put']> | undefined {
  if (receipt.state !== 'succeeded' && receipt.state !== 'failed') return undefined
  return room.cache.put(call.id, receipt, now)
}

/** How an attempt ended, and what its caller is told once that is written down. */
export interface Ended<T> {
  readonly ending: Ending
  answer(receipt: ReceiptView): Once<T> | Promise<never>
}

async function perform<T>(
  room: Room,
  call: Call<T>,
  receipt: Receipt,
  sinceMs: number,
  effect: Effect<T>,
): Promise<Ended<T>> {
  const { maxOutcome } = room.store
  try {
    return await underLease(room, receipt, call.terms.timeoutMs, async (attempt) => {
      // A later attempt of a checked effect: an earlier one may have done it already.
      if (call.terms.check && receipt.attempt > 1) {
        const answer = await askCheck(call.terms.check, attempt)
        if (answer.found === true) return succeeded(answer.value, true, maxOutcome)
        if (answer.found === 'unclear') return held('the status check could not tell')
        // The check took its time: the lease, or the time of this attempt, may be over by now.
        await stillOwned(room, receipt, sinceMs)
        attempt.signal.throwIfAborted()
      }
      return succeeded(await effect(attempt), false, maxOutcome)
    })
  } catch (error) {
    return classify(room, call, receipt, error)
  }
}

async function classify<T>(room: Room, call: Call<T>, receipt: Receipt, error: unknown): Promise<Ended<T>> {
  const verdict = verdictOf<T>(error, room.store.maxOutcome)
  if (verdict) return verdict
  if (isAbout(error, 'LEASE_LOST', receipt)) throw error
  const { check, recovery } = call.terms
  if (check) {
    const ask = (attempt: Attempt): Promise<CheckResult<T>> => askCheck(check, attempt)
    const answer = await underLease(room, receipt, call.terms.timeoutMs, ask).catch(() => undefined)
    if (answer?.found === true) return succeeded(answer.value, false, room.store.maxOutcome)
    // What timed out may still happen: the next attempt asks the check again before it runs.
    const event = isTimeout(error) ? 'lapse' : 'release'
    if (answer?.found === false) return failing(event, error, 'the status check found nothing')
    return held('the effect failed, and the status check could not tell', error)
  }
  if (recovery === 'retry' && receipt.attempt < receipt.maxAttempts)
    return failing('lapse', error, 'the effect failed')
  if (recovery === 'retry') return held(`the last of ${receipt.maxAttempts} attempts failed`, error)
  return held('the effect failed without saying whether it happened', error)
}

function isTimeout(error: unknown): boolean {
  return error instanceof IbidError && error.code === 'UPSTREAM_TIMEOUT'
}

/** Did this very attempt end so, and not one that the effect made further down? */
export function isAbout(error: unknown, code: IbidCode, { tenant, scope, key, epoch }: Receipt): boolean {
  if (!(error instanceof IbidError) || error.code !== code || error.receipt === undefined) return false
  const about = error.receipt
  return about.key === key && about.scope === scope && about.tenant === tenant && about.epoch === epoch
}

/** What the effect itself said about how it ended, if it did. */
export function verdictOf<T>(error: unknown, maxOutcome: number): Ended<T> | undefined {
  if (error instanceof Rejected)
    return { ...failing('fail', error), ending: { event: 'fail', outcome: encodeError(error, maxOutcome) } }
  if (error instanceof NotExecuted) return failing('release', error, error.message)
  if (error instanceof OutcomeUnknown) return failing('doubt', error, error.message)
  return undefined
}

function succeeded<T>(value: T, replayed: boolean, maxOutcome: number): Ended<T> {
  return {
    ending: { event: 'succeed', outcome: encodeValue(value, maxOutcome) },
    answer: (receipt) => ({ value, replayed, receipt }),
  }
}

/** The caller gets the effect's own error, with the receipt on it where it has a place for one. */
function failing(event: Ending['event'], error: unknown, why?: string): Ended<never> {
  return {
    ending: { event, outcome: null, ...(why === undefined ? {} : { why }) },
    answer(receipt) {
      if (error instanceof IbidError) Object.assign(error, { receipt, replayed: error.replayed ?? false })
      return Promise.reject(error)
    },
  }
}

function held(why: string, cause?: unknown): Ended<never> {
  const said = cause instanceof Error ? `${why}: ${cause.message}` : why
  return {
    ending: { event: 'doubt', outcome: null, why: said },
    answer: (receipt) => Promise.reject(outcomeUnknown(receipt, said, cause)),
  }
}
