/**
 * The queue guard: a message in, a verdict out. Every delivery of a message is a claim of its receipt, so that what a
 * broker does by itself (redeliver, copy, count, forget) changes nothing about how often the handler runs.
 * Messages that are handed in during one turn of the loop are claimed, and later settled, in one round trip.
 */
import { IbidError, OutcomeUnknown, Rejected } from '../../core/errors.js'
import { checkAddress } from '../../core/intent.js'
import { LONGEST_TIMER_MS } from '../../core/longest-timer.js'
import type { Ibid, Intent } from '../../ibid.js'
import { fingerprint } from '../../key/index.js'
import { digestOfBytes } from './body.js'
import { messageKey } from './message-key.js'
import { type ConsumeOptions, readSettings, type Settings } from './settings.js'
import { acked, dead, handlerFailed, reasonOf, refused, type Verdict } from './verdict.js'
import { askWithin, type Work, workOf } from './work.js'
import { createWorking, type Working } from './working.js'

export interface Consumer<M, T = unknown> {
  (message: M): Promise<Verdict<T | undefined>>
  /** Tells the broker that a message is being worked on, while whoever judged it is not done with it yet. */
  readonly working?: Working<M> | undefined
}

/** Progress and renewals go out this often within a lease, so that one lost one does no harm. */
const TURNS = 3

/** The returned function never throws: whatever happens to a message is its verdict. */
export function consume<M, T = unknown>(ibid: Ibid, options: ConsumeOptions<M, T>): Consumer<M, T> {
  const settings = readSettings(options)
  const tell = settings.working
  const working = tell && createWorking<M>(Math.min(settings.leaseMs / TURNS, LONGEST_TIMER_MS), tell)

  async function take(message: M): Promise<Verdict<T | undefined>> {
    const intent = read(settings, message)
    if (intent instanceof Error) return dead(intent)
    const stop = working?.start(message)
    try {
      return await judge(ibid, settings, message, intent)
    } finally {
      stop?.()
    }
  }

  return Object.assign(take, { working })
}

/** What the message is about; an error where it can never be said. */
function read<M, T>(settings: Settings<M, T>, message: M): Intent | Error {
  const { queue, scope, identity } = settings
  try {
    const tenant = settings.tenantOf(message)
    const key = messageKey(queue, tenant, settings.keyOf(message), () => settings.idOf(message))
    const payload = digestOfBytes(settings.payloadOf(message))
    const intent = { scope, key, payload, ...(tenant === undefined ? {} : { tenant }) }
    return identity === undefined ? intent : { ...intent, identity }
  } catch (error) {
    return error instanceof Error ? error : new IbidError(reasonOf(error), UNREADABLE)
  }
}

async function judge<M, T>(
  ibid: Ibid,
  settings: Settings<M, T>,
  message: M,
  intent: Intent,
): Promise<Verdict<T | undefined>> {
  const work = workOf(settings, message)
  try {
    const { value, replayed, receipt } = await ibid.once(intent, work.effect, settings.policy)
    return acked(value, replayed || work.wasDone(), receipt)
  } catch (error) {
    if (error instanceof Rejected) return dead(error)
    if (error instanceof OutcomeUnknown)
      return (await lookUp(ibid, settings, message, intent, error)) ?? dead(error)
    if (isUnclaimable(error, intent)) return dead(error)
    return isHandlers(error, work) ? failedOf(settings, work, error) : refused(error, settings.delays)
  }
}

/** Is it what the handler threw, or the engine's word for an attempt that took too long? */
function isHandlers(error: unknown, work: Work<unknown>): boolean {
  if (error instanceof IbidError && error.code === 'UPSTREAM_TIMEOUT') return true
  const failure = work.failure()
  if (!failure) return false
  return error === failure.error || (error instanceof IbidError && error.cause === failure.error)
}

function failedOf<M, T>(settings: Settings<M, T>, work: Work<T>, error: unknown): Verdict<never> {
  const failure = work.failure()
  const attempt = failure?.attempt ?? (error instanceof IbidError ? error.receipt?.attempt : undefined)
  return handlerFailed(failure?.error ?? error, attempt ?? 1, settings.delays)
}

/**
 * Nothing ran, because the intent was refused. Is that the message's fault, so that it never can, or the program's
 * (no tenant, say), so that it can once that is mended?
 */
function isUnclaimable(
  error: unknown,
  { tenant = 'tenant', scope, key, payload, identity }: Intent,
): boolean {
  if (!(error instanceof IbidError) || error.code !== 'INVALID_INTENT') return false
  try {
    checkAddress({ tenant, scope, key })
    fingerprint(payload, identity)
    return false
  } catch {
    return true
  }
}

/** A held message, met by a consumer who can find out what a person would have to. */
async function lookUp<M, T>(
  ibid: Ibid,
  settings: Settings<M, T>,
  message: M,
  intent: Intent,
  { receipt }: OutcomeUnknown,
): Promise<Verdict<T | undefined> | undefined> {
  if (!settings.check || receipt?.key !== intent.key || receipt.scope !== intent.scope) return undefined
  const { tenant, scope, key, attempt: number, epoch, createdAt } = receipt
  const held = { tenant, scope, key, number, epoch, createdAt, isFirst: false }
  const answer = await askWithin(settings.timeoutMs, settings.check, message, held)
  if (answer.found !== true) return undefined
  const resolution = { as: 'succeeded', value: answer.value } as const
  try {
    const resolved = await ibid.resolve({ tenant, scope, key }, resolution, FOUND)
    return acked(answer.value, true, resolved)
  } catch (error) {
    return refused(error, settings.delays)
  }
}

const FOUND = { by: 'status check of the queue guard', why: 'found downstream' }
const UNREADABLE = {
  code: 'UNREADABLE',
  retriable: false,
  action: 'look at the message: the functions that read its key, id or payload could not',
}
