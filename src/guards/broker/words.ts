/**
 * Errors in the words of an observation: what happened, what it means for the effect, what to do. Made for a
 * model to act on, so no key, no address of a server and no text of an unread error is in them.
 */
import { IbidError, NotExecuted, Rejected } from '../../core/errors.js'
import { own } from '../../core/own.js'
import type { ObservationError } from './observation.js'

interface Words {
  readonly message: string
  readonly action: string
}

const NOT_AGAIN =
  'do not make this call again: it may have taken effect or still do so. Say that its result is not known yet, and that it will be looked into'

const WORDS: Readonly<Record<string, Words>> = {
  RETRY_IN_FLIGHT: {
    message: 'this very call is being carried out right now; it was not started a second time',
    action: 'make exactly the same call again later to get its result',
  },
  OUTCOME_UNKNOWN: {
    message: 'the call was made, and it is not known whether it took effect',
    action:
      'do not make this call again, not in other words and not with another tool: say that its outcome is not known and has to be looked up',
  },
  NEEDS_HUMAN: {
    message:
      'the call was made, and only a person can find out whether it took effect or decide about another attempt',
    action:
      'do not make this call again, not in other words and not with another tool: say that a person has to look at it',
  },
  LEASE_LOST: {
    message: 'the call took too long, and another worker has taken it over',
    action: 'make exactly the same call again to get the result',
  },
  STORE_UNAVAILABLE: {
    message: 'the record of actions cannot be reached, so this call has no recorded result',
    action: 'make exactly the same call again later',
  },
  UNSAFE_STORE: {
    message: 'the record of actions is not set up safely, so this call was not started',
    action: 'say that the operator of this system has to repair it',
  },
  // It knows of no earlier call of this step, which may have done it: a model must not be told to repeat it.
  CLOSED: {
    message:
      'this system is shutting down and did not start this call; an earlier one may have been carried out',
    action: NOT_AGAIN,
  },
  VALUE_NOT_RETAINED: {
    message: 'the call took effect, but what it returned was not kept',
    action: 'do not make this call again: it is done. Look its result up with a tool that reads',
  },
  KEY_REUSED: {
    message: 'the caller used one key for two different calls; this one was not carried out',
    action: 'say that the calling system has to use a new key for a new call',
  },
}

export function errorOf(error: unknown): ObservationError {
  if (!(error instanceof IbidError)) return UNREAD
  const { code, retriable, retryAfterMs, data } = error
  const isOwn = error instanceof Rejected || error instanceof NotExecuted
  const { message, action } = isOwn ? error : (own(WORDS, code) ?? error)
  return {
    code,
    message,
    retriable,
    // A refusal for good has no time to come again, and its receipt keeps none: a replay is the same.
    ...(retryAfterMs === undefined || !retriable ? {} : { retry_after_ms: Math.ceil(retryAfterMs) }),
    action,
    ...(data === undefined ? {} : { data }),
  }
}

/**
 * Answers that leave open whether the effect happened or is about to. The host may make the same call again,
 * under the same ids. A model may not: its next call has an id of its own, and would be another action.
 */
const UNSETTLED = new Set([
  'RETRY_IN_FLIGHT',
  'UPSTREAM_TIMEOUT',
  'UPSTREAM_ERROR',
  'LEASE_LOST',
  'STORE_UNAVAILABLE',
])

export function isUnsettled({ code, retriable }: ObservationError): boolean {
  return retriable && UNSETTLED.has(code)
}

export function notForModels(error: ObservationError): ObservationError {
  const { retry_after_ms: _, ...rest } = error
  return { ...rest, retriable: false, action: NOT_AGAIN }
}

const UNREAD: ObservationError = {
  code: 'UPSTREAM_ERROR',
  message: 'the tool failed',
  retriable: false,
  action: 'say that the tool does not work at the moment',
}

export function invalidArguments(fields: NonNullable<ObservationError['fields']>): ObservationError {
  const list = fields
    .map(({ field, message }) => (field === '' ? message : `${field}: ${message}`))
    .join('; ')
  return {
    code: 'INVALID_ARGUMENTS',
    message: `the arguments do not fit the tool: ${list}. Nothing was carried out`,
    retriable: false,
    action: `correct ${fields.map(({ field }) => field || 'the arguments').join(', ')} and call the tool again`,
    fields,
  }
}

export function unknownTool(name: string, known: readonly string[]): ObservationError {
  return {
    code: 'UNKNOWN_TOOL',
    message: `there is no tool named ${JSON.stringify(name.slice(0, 100))}; nothing was carried out`,
    retriable: false,
    action: `use one of ${known.join(', ')}`,
  }
}

export function forbiddenScope(scope: string): ObservationError {
  return {
    code: 'FORBIDDEN_SCOPE',
    message: `this tool needs the right ${scope}, which the caller does not have; nothing was carried out`,
    retriable: false,
    action: 'do without this tool, or say that the right is missing',
  }
}

export function versionMismatch(wanted: string, version: string): ObservationError {
  return {
    code: 'VERSION_MISMATCH',
    message: `the caller was made for version ${wanted} of this tool, which is ${version} now; nothing was carried out`,
    retriable: false,
    action: 'say that the calling system has to be brought up to date with this tool',
  }
}

export function cancelled(): ObservationError {
  return {
    code: 'CANCELLED',
    message: 'the call was cancelled before it began; it carried out nothing',
    retriable: true,
    action: 'make exactly the same call again if it is still wanted',
  }
}

export function diverged(first: unknown): ObservationError {
  return {
    code: 'DIVERGED_REPLAY',
    message: 'this step has called this tool before with other arguments; this call was not carried out',
    retriable: false,
    action:
      'go on with what the first call did. If another action is really meant, the calling system has to start it as a new step or as a deliberate repeat',
    data: { first },
  }
}

export function askedAgain(first: unknown): ObservationError {
  return {
    code: 'NEEDS_HUMAN',
    message:
      'exactly this call was carried out a short while ago, and nothing tells whether it is meant a second time; it was not carried out again',
    retriable: false,
    action: 'go on with the first result, or ask the person whether it is meant a second time',
    data: { first },
  }
}
