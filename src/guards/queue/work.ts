/**
 * One execution of a message's handler, as the engine runs it. Whatever fails here without being refused for good is
 * left to lapse, so that the receipt counts it: a broker's own counter starts anew with every copy of a message.
 */
import { IbidError, NotExecuted, OutcomeUnknown, Rejected } from '../../core/errors.js'
import type { Attempt, CheckResult } from '../../core/policy.js'
import { LONGEST_TIMER_MS } from '../../core/longest-timer.js'
import { mustGoOn } from '../../ibid.js'
import type { MessageCheck, Settings } from './settings.js'

export interface Work<T> {
  readonly effect: (attempt: Attempt) => Promise<T>
  /** How the handler itself failed in this delivery, if it did. */
  readonly failure: () => { readonly error: unknown; readonly attempt: number } | undefined
  /** The status check found that an earlier delivery had done it. */
  readonly wasDone: () => boolean
}

export function workOf<M, T>(settings: Settings<M, T>, message: M): Work<T> {
  const { check, handle } = settings
  let failure: { readonly error: unknown; readonly attempt: number } | undefined
  let wasDone = false

  /** Undefined: it was not done, and may be now. */
  async function doneBefore(attempt: Attempt): Promise<{ readonly value: T } | undefined> {
    if (!check || attempt.isFirst) return undefined
    const answer = await ask(check, message, attempt)
    if (answer.found === 'unclear')
      throw new OutcomeUnknown('an earlier attempt ended without a word, and the status check could not tell')
    await mustGoOn(attempt)
    wasDone = answer.found
    return answer.found ? { value: answer.value } : undefined
  }

  return {
    async effect(attempt) {
      const done = await doneBefore(attempt)
      if (done) return done.value
      try {
        return await handle(message, attempt)
      } catch (error) {
        failure = { error, attempt: attempt.number }
        throw error instanceof NotExecuted ? counted(error, attempt, settings, message) : error
      }
    },
    failure: () => failure,
    wasDone: () => wasDone,
  }
}

/** A check that throws, or answers something else, has not told us anything. */
async function ask<M, T>(check: MessageCheck<M, T>, message: M, attempt: Attempt): Promise<CheckResult<T>> {
  try {
    const answer = await check(message, attempt)
    return answer?.found === true || answer?.found === false ? answer : { found: 'unclear' }
  } catch {
    return { found: 'unclear' }
  }
}

/** A check under no lease: of a message that is held. One that hangs is ended when its time is up, and told nothing. */
export function askWithin<M, T>(
  timeoutMs: number,
  check: MessageCheck<M, T>,
  message: M,
  held: Omit<Attempt, 'signal'>,
): Promise<CheckResult<T>> {
  const stopping = new AbortController()
  return new Promise((resolve) => {
    const late = (): void => {
      stopping.abort(new DOMException(`the status check did not end within ${timeoutMs} ms`, 'TimeoutError'))
      resolve({ found: 'unclear' })
    }
    const timer = setTimeout(late, Math.min(timeoutMs, LONGEST_TIMER_MS))
    void ask(check, message, { ...held, signal: stopping.signal }).then((answer) => {
      clearTimeout(timer)
      resolve(answer)
    })
  })
}

/**
 * Nothing happened, and that is no reason to try for ever. The engine gives a key back uncounted, so under `retry`
 * the error goes on as one that is counted; under `hold`, which counts nothing, the broker's counter has to do.
 */
function counted<M, T>(
  error: NotExecuted,
  attempt: Attempt,
  settings: Settings<M, T>,
  message: M,
): IbidError {
  const made = settings.isHeld ? (settings.deliveries(message) ?? 1) : attempt.number
  if (made >= settings.maxAttempts) {
    const what = settings.isHeld ? 'deliveries' : 'attempts'
    return new Rejected(`given up after ${made} ${what}, none of which did anything: ${error.message}`, {
      code: 'ATTEMPTS_EXHAUSTED',
      action: 'mend the cause, then send the message again under a new key, or when the window is over',
      cause: error,
    })
  }
  if (settings.isHeld) return error
  const { message: text, code, action, retryAfterMs } = error
  return new IbidError(text, { code, action, retryAfterMs, retriable: true, cause: error })
}
