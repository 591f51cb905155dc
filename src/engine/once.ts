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
import type { Attempt, Check, CheckResult } from '../core/policy.js'
import { type Receipt, type ReceiptView, view } from '../core/receipt.js'
import { acquire } from './acquire.js'
import { askCheck, mustGoOn, stillOwned, underLease } from './attempt.js'
import type { Execution } from './executions.js'
import { replay } from './replay.js'
import type { Call, Room } from './room.js'
import { type Ending, settle, type Written } from './settle.js'
import type { AttemptSpan } from './telemetry.js'
import { isSameClaim, withReceipt } from './with-receipt.js'

export interface Once<T> {
  readonly value: T
  /** The effect did not run for this call: the value is the one of an earlier one. */
  readonly replayed: boolean
  readonly receipt: ReceiptView
}

export type Effect<T> = (attempt: Attempt) => T | Promise<T>

export async function once<T>(room: Room, call: Call<T>, effect: Effect<T>): Promise<Once<T>> {
  let execution: Execution | undefined
  let span: AttemptSpan | undefined
  let written: Written | undefined
  room.calls.enter()
  try {
    const acquired = await acquire(room, call)
    if (acquired.kind === 'settled') return replay(room, call, acquired.settled)
    const { receipt, sinceMs, isFirst } = acquired
    execution = room.executions.start(call.id, receipt)
    span = room.telemetry.startSpan(receipt.scope, receipt.attempt)
    const asked = stillOwned(room, receipt, sinceMs)
    if (asked) await asked
    const performed = span
      ? span.run(() => perform(room, call, receipt, sinceMs, isFirst, effect))
      : perform(room, call, receipt, sinceMs, isFirst, effect)
    const ended = performed instanceof Promise ? await performed : performed
    written = await settle(room, receipt, ended.ending)
    const shown = view(written.receipt)
    if (ended.kind === 'done') return { value: ended.value, replayed: ended.replayed, receipt: shown }
    throw ended.error(shown)
  } catch (error) {
    span?.failed()
    throw error
  } finally {
    span?.end()
    execution?.end(() => written && remember(room, written))
    room.calls.leave()
  }
}

export function remember(
  room: Room,
  { receipt, now, askedMs }: Written,
): ReturnType<Room['cache']['put']> | undefined {
  if (receipt.state !== 'succeeded' && receipt.state !== 'failed') return undefined
  return room.cache.put(receipt, now, askedMs)
}

/** How an attempt ended, and what its caller is told once that is written down. */
export type Ended<T> =
  | { readonly kind: 'done'; readonly ending: Ending; readonly value: T; readonly replayed: boolean }
  | Failed

export interface Failed {
  readonly kind: 'failed'
  readonly ending: Ending
  error(receipt: ReceiptView): unknown
}

/** Nothing is awaited for an effect that has its result at once. */
function perform<T>(
  room: Room,
  call: Call<T>,
  receipt: Receipt,
  sinceMs: number,
  isFirst: boolean,
  effect: Effect<T>,
): Ended<T> | Promise<Ended<T>> {
  const { maxOutcome } = room.store
  const { check, timeoutMs } = call.terms
  // Not the first that claimed it: an earlier one may have done it, also after a check had found nothing yet.
  const checksFirst = check !== undefined && !isFirst
  try {
    const result: unknown = underLease<unknown>(
      room,
      receipt,
      timeoutMs,
      sinceMs,
      isFirst,
      checksFirst ? (attempt) => checkFirst(room, check, effect, attempt) : effect,
    )
    if (!(result instanceof Promise)) return succeeded(result as T, false, maxOutcome)
    return result.then(
      (value) => (checksFirst ? (value as Ended<T>) : succeeded(value as T, false, maxOutcome)),
      (error: unknown) => classify(room, call, receipt, error),
    )
  } catch (error) {
    return classify(room, call, receipt, error)
  }
}

async function checkFirst<T>(
  room: Room,
  check: Check<T>,
  effect: Effect<T>,
  attempt: Attempt,
): Promise<Ended<T>> {
  const { maxOutcome } = room.store
  const answer = await askCheck(check, attempt)
  if (answer.found === true) return succeeded(answer.value, true, maxOutcome)
  if (answer.found === 'unclear') return held('the status check could not tell')
  await mustGoOn(attempt)
  return succeeded(await effect(attempt), false, maxOutcome)
}

async function classify<T>(room: Room, call: Call<T>, receipt: Receipt, thrown: unknown): Promise<Ended<T>> {
  const error = readable(thrown)
  const verdict = verdictOf(error, room.store.maxOutcome)
  if (verdict) return verdict
  if (isAbout(error, 'LEASE_LOST', receipt)) throw error
  const { check, recovery } = call.terms
  if (check) {
    const answer = await checkAfter(room, call, receipt, check)
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

async function checkAfter<T>(
  room: Room,
  call: Call<T>,
  receipt: Receipt,
  check: Check<T>,
): Promise<CheckResult<T> | undefined> {
  const ask = (attempt: Attempt): Promise<CheckResult<T>> => askCheck(check, attempt)
  try {
    return await underLease(room, receipt, call.terms.timeoutMs, room.timers.elapsedMs(), false, ask)
  } catch {
    return undefined
  }
}

/** Not even asking what it is may be possible, as with a Proxy that was revoked. */
export function readable(thrown: unknown): unknown {
  try {
    void (thrown instanceof Error)
    return thrown
  } catch {
    return new TypeError('what was thrown cannot be read')
  }
}

function isTimeout(error: unknown): boolean {
  return error instanceof IbidError && error.code === 'UPSTREAM_TIMEOUT'
}

/** Did this very attempt end so, and not one that the effect made further down? */
export function isAbout(error: unknown, code: IbidCode, receipt: Receipt): boolean {
  if (!(error instanceof IbidError) || error.code !== code || error.receipt === undefined) return false
  return isSameClaim(error.receipt, receipt)
}

/** What the effect itself said about how it ended, if it did. */
export function verdictOf(error: unknown, maxOutcome: number): Failed | undefined {
  if (error instanceof Rejected)
    return { ...failing('fail', error), ending: { event: 'fail', outcome: encodeError(error, maxOutcome) } }
  if (error instanceof NotExecuted) return failing('release', error, error.message)
  if (error instanceof OutcomeUnknown) return failing('doubt', error, error.message)
  return undefined
}

function succeeded<T>(value: T, replayed: boolean, maxOutcome: number): Ended<T> {
  return {
    kind: 'done',
    ending: { event: 'succeed', outcome: encodeValue(value, maxOutcome) },
    value,
    replayed,
  }
}

/** The caller gets the effect's own error, with the receipt on it where it has a place for one. */
function failing(event: Ending['event'], error: unknown, why?: string): Failed {
  return {
    kind: 'failed',
    ending: { event, outcome: null, ...(why === undefined ? {} : { why }) },
    error: (receipt) => (error instanceof IbidError ? withReceipt(error, receipt) : error),
  }
}

function held(why: string, cause?: unknown): Failed {
  const said = `${why}${messageOf(cause)}`
  return {
    kind: 'failed',
    ending: { event: 'doubt', outcome: null, why: said },
    error: (receipt) => outcomeUnknown(receipt, said, cause),
  }
}

/** Nobody holds what is thrown to texts. */
function messageOf(cause: unknown): string {
  try {
    return cause instanceof Error ? `: ${cause.message}` : ''
  } catch {
    return ''
  }
}
