/** What a caller of a run or a step can be told, each with what it means and what to do. */
import { IbidError, invalidIntent, NotExecuted, OutcomeUnknown, Rejected } from '../../core/errors.js'
import type { ReceiptView } from '../../core/receipt.js'

export interface By {
  readonly by: string
  readonly why: string
}

/** 429: nothing ran, and the reservation was given back. */
export function admissionRejected(limit: number, of: string, retryAfterMs: number): NotExecuted {
  return new NotExecuted(
    `all ${limit} runs that ${of} may have at once are active; this one did not start, and its key was given back`,
    {
      code: 'ADMISSION_REJECTED',
      retryAfterMs,
      action: `start the same trigger with the same key again in ${retryAfterMs} ms`,
    },
  )
}

export function active(runId: string, receipt: ReceiptView, retryAfterMs: number): IbidError {
  return new IbidError(
    `run ${runId} of this trigger is active (attempt ${receipt.attempt}); no second one started`,
    {
      code: 'RETRY_IN_FLIGHT',
      retriable: true,
      retryAfterMs,
      action: `start the same trigger again in ${retryAfterMs} ms to get the outcome, or watch run ${runId}`,
      receipt,
      data: { runId },
    },
  )
}

export function alreadyRun(runId: string, receipt: ReceiptView): IbidError {
  return new IbidError(
    `this trigger has had its run, ${runId}, which ${receipt.state}; no second one started`,
    {
      code: 'ALREADY_RUN',
      retriable: false,
      action: 'nothing: read the outcome with runs.get where it is wanted',
      receipt,
      data: { runId },
    },
  )
}

export function cancelled(runId: string, { by, why }: By): Rejected {
  return new Rejected(`run ${runId} was cancelled by ${by}: ${why}; the steps that had committed stand`, {
    code: 'CANCELLED',
    action: 'do not repeat this trigger: it was called off. A new key starts a new run',
    data: { runId, by, why },
  })
}

/** Held at once: the same code would diverge at the same place again. */
export function diverged(
  runId: string,
  place: string,
  now: string,
  then: string | undefined,
): OutcomeUnknown {
  const before =
    then === undefined ? 'another name or input' : `step ${JSON.stringify(then)}, or another input`
  return new OutcomeUnknown(
    `step ${JSON.stringify(now)} stands at place ${place} of run ${runId}, where its first attempt had ${before}; it was not executed`,
    {
      code: 'DIVERGED_REPLAY',
      action:
        'resume the run with the code it was started with, or make its steps and their inputs the same every time; then runs.resume',
      data: { runId, place, step: now, recorded: then },
    },
  )
}

/** A step is held, so its run is: both wait for the person who can say what happened. */
export function heldBy(runId: string, step: OutcomeUnknown): OutcomeUnknown {
  return new OutcomeUnknown(`run ${runId} stopped at a step that is held: ${step.message}`, {
    action: 'resolve the receipt of the step, then runs.resume the run',
    data: { runId, step: step.receipt },
    cause: step,
  })
}

/** The worker lets go of the run, and another goes on where it stands. */
export function handedOver(runId: string): IbidError {
  return new IbidError(`run ${runId} was left to another worker, because this one closes`, {
    code: 'CLOSED',
    retriable: true,
    action: 'start the same trigger again to get the outcome',
  })
}

/** Of a step that begins when the code of its run has returned or thrown. */
export function attemptOver(runId: string): IbidError {
  return new IbidError(`the code of run ${runId} had ended before this step began; it was not executed`, {
    code: 'RUN_OVER',
    retriable: false,
    action:
      'await every step, and every branch that takes steps, before the code of the run returns or throws',
  })
}

/** The time that one worker may spend on a run is over, sleep not counted. */
export function timedOut(runId: string, timeoutMs: number): IbidError {
  return new IbidError(
    `run ${runId} did not end within ${timeoutMs} ms of work; what it had begun may still happen`,
    {
      code: 'UPSTREAM_TIMEOUT',
      retriable: false,
      action: 'do not use a new key: another attempt goes on behind the steps that committed',
    },
  )
}

export function usedUp(runId: string, maxAttempts: number, cause?: unknown): OutcomeUnknown {
  const said = cause instanceof Error ? cause.message : String(cause)
  const why =
    cause === undefined
      ? `all ${maxAttempts} attempts at run ${runId} are used up; nothing was executed`
      : `the last of ${maxAttempts} attempts at run ${runId} failed: ${said}`
  return new OutcomeUnknown(why, {
    action: 'find out why it fails, then runs.resume the run, or runs.cancel it',
    data: { runId },
    cause,
  })
}

/** Steps are kept for as long as a run can need them: one that comes back later would not find them. */
export function tooOld(runId: string, createdAtMs: number, so: string): OutcomeUnknown {
  const began = new Date(createdAtMs).toISOString()
  return new OutcomeUnknown(
    `run ${runId} began at ${began}, and steps that it committed may be forgotten by now; ${so}`,
    {
      action: 'look up what it has done, then runs.cancel it; what is left to do needs a new key',
      data: { runId },
    },
  )
}

export function tooLong(wakeMs: number, latestMs: number): IbidError {
  const [wake, latest] = [wakeMs, latestMs].map((ms) => new Date(ms).toISOString())
  return invalidIntent(
    `the run would sleep until ${wake}, and its steps may be forgotten from ${latest} on`,
    'give the run a policy with a longer sleep',
  )
}

export function noSuchRun(runId: string): IbidError {
  return new IbidError(`there is no run ${runId}, or its window is over; nothing was changed`, {
    code: 'NO_SUCH_RUN',
    retriable: false,
    action: 'look at runs.list for what is there',
  })
}

export function notRegistered(agent: string): IbidError {
  return new IbidError(`agent ${agent} has no code in this process; nothing was executed`, {
    code: 'NOT_REGISTERED',
    retriable: false,
    action: `runs.register('${agent}', async (run) => …), or give the function to runs.start`,
  })
}

/** Does the error say that this very address belongs to another payload, and not one further down? */
export function isReused(error: unknown, where: { readonly scope: string; readonly key: string }): boolean {
  return isAbout(error, 'KEY_REUSED', where)
}

export function isInFlight(
  error: unknown,
  where: { readonly scope: string; readonly key: string },
): error is IbidError {
  return isAbout(error, 'RETRY_IN_FLIGHT', where)
}

function isAbout(
  error: unknown,
  code: string,
  { scope, key }: { readonly scope: string; readonly key: string },
): error is IbidError {
  if (!(error instanceof IbidError) || error.code !== code) return false
  return error.receipt?.scope === scope && error.receipt.key === key
}
