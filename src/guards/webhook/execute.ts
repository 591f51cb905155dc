/**
 * One event under its receipt, and the status that follows from how it ended. A refusal for good ends the vendor's
 * retries, because none of them could change it; whatever may still be done, or is not known, keeps them coming.
 */
import { IbidError, Rejected } from '../../core/errors.js'
import type { Attempt, Policy } from '../../core/policy.js'
import { quietly } from '../../core/quietly.js'
import type { Ibid, Where } from '../../ibid.js'
import { problem, received } from './answer.js'
import type { WebhookEvent } from './event.js'
import { handOff } from './handoff.js'
import type { Settings } from './options.js'

const HELD_RETRY_MS = 60_000

export async function execute<P, T, Tx>(
  ibid: Ibid<Tx>,
  settings: Settings<P, T, Tx>,
  where: Where,
  event: WebhookEvent<P>,
  identity: unknown,
): Promise<Response> {
  const { source, respond } = settings
  let thrown: unknown
  // What no answer is made of is not kept: an event may have brought in anything.
  const keep = async (work: () => unknown): Promise<T> => {
    try {
      const value = await work()
      return (respond ? value : undefined) as T
    } catch (error) {
      thrown = error
      throw error
    }
  }
  let done
  try {
    done = await run(ibid, settings, { ...where, payload: identity }, event, keep)
  } catch (error) {
    return failed(settings, event, error, error === thrown)
  }
  if (respond) return await answerOf(() => respond(done.value, event), settings, event)
  return received(done.replayed ? 'duplicate' : 'handled', source.silent ?? false)
}

/** The event is settled: an answer that cannot be made is told as that, and not as an event that was not handled. */
async function answerOf<P, T, Tx>(
  respond: () => Response | Promise<Response>,
  { onError }: Settings<P, T, Tx>,
  event: WebhookEvent<P>,
): Promise<Response> {
  try {
    const answer = await respond()
    if (typeof answer?.status === 'number') return answer
    throw noResponse()
  } catch (error) {
    quietly(() => onError?.(error, event))
    return problem('NOT_ANSWERED', 1_000)
  }
}

function noResponse(): IbidError {
  return new IbidError('respond gave no Response; the event was handled', {
    code: 'NOT_ANSWERED',
    retriable: true,
    action: 'let respond(value, event) return a Response',
  })
}

type Keep<T> = (work: () => unknown) => Promise<T>

function run<P, T, Tx>(
  ibid: Ibid<Tx>,
  settings: Settings<P, T, Tx>,
  intent: Where & { readonly payload: unknown },
  event: WebhookEvent<P>,
  keep: Keep<T>,
): Promise<{ readonly value: T; readonly replayed: boolean }> {
  const { handle, transact, enqueue, check, policy } = settings
  if (transact) {
    const { recovery: _recovery, maxAttempts: _maxAttempts, ...rest } = policy
    return ibid.transact(intent, (tx, attempt) => keep(() => transact(tx, event, attempt)), rest)
  }
  const work = (attempt: Attempt): Promise<T> =>
    keep(() => (enqueue ? enqueue(handOff(event, attempt), attempt) : handle?.(event, attempt)))
  const asked: Policy<T> = check
    ? { ...policy, recovery: { check: (attempt) => check(event, attempt) } }
    : policy
  return ibid.once(intent, work, asked)
}

/** `own`: the error is the one that the handler itself threw, not one about its receipt. */
function failed<P, T, Tx>(
  settings: Settings<P, T, Tx>,
  event: WebhookEvent<P>,
  error: unknown,
  own: boolean,
): Response {
  const { source, inFlight, onError } = settings
  const silent = source.silent ?? false
  const { code, retryAfterMs = 1_000 } = error instanceof IbidError ? error : { code: undefined }
  if (error instanceof Rejected) {
    if (own) quietly(() => onError?.(error, event))
    return received('rejected', silent)
  }
  // It was done; only what it returned is gone.
  if (!own && code === 'VALUE_NOT_RETAINED') return received('duplicate', silent)
  if (!own && code === 'RETRY_IN_FLIGHT') {
    return inFlight === 'accept' ? received('in-flight', silent) : problem('RETRY_IN_FLIGHT', retryAfterMs)
  }
  quietly(() => onError?.(error, event))
  if (!own && code === 'KEY_REUSED') return problem('KEY_REUSED')
  // What it did is not known, and the attempt that took over decides.
  if (!own && code === 'LEASE_LOST') return problem('LEASE_LOST', retryAfterMs)
  if (code === 'OUTCOME_UNKNOWN') return problem('OUTCOME_UNKNOWN', HELD_RETRY_MS)
  return problem(!own && code === 'STORE_UNAVAILABLE' ? 'STORE_UNAVAILABLE' : 'NOT_HANDLED', retryAfterMs)
}
