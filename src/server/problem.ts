/**
 * Errors as RFC 9457 problem+json. The status is for programs that know HTTP; `code`, `retriable` and `action`
 * are for whoever acts on it. What an error from inside says of hosts and tables goes to the log, not to the
 * client.
 */
import { IbidError } from '../core/errors.js'
import { own } from '../core/own.js'
import type { Answer } from './route.js'

const STATUS: Readonly<Record<string, number>> = {
  INVALID_INTENT: 400,
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  NO_RECEIPT: 404,
  NO_ROUTE: 404,
  METHOD_NOT_ALLOWED: 405,
  RETRY_IN_FLIGHT: 409,
  OUTCOME_UNKNOWN: 409,
  LEASE_LOST: 409,
  NOT_HELD: 409,
  TOO_LARGE: 413,
  KEY_REUSED: 422,
  RATE_LIMITED: 429,
  QUOTA_EXCEEDED: 429,
  TOO_MANY_WAITING: 429,
  STORE_UNAVAILABLE: 503,
  UNSAFE_STORE: 503,
  CLOSED: 503,
}

/** What these say is for the operator; the client gets the fact. */
const DISCREET: Readonly<Record<string, string>> = {
  STORE_UNAVAILABLE: 'the store of receipts did not answer; see code and action',
  UNSAFE_STORE: 'the store of receipts is not set up to keep its promises; nothing was executed',
  CLOSED: 'this server is stopping; nothing was executed',
}

export interface Problem {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly code: string
  readonly retriable: boolean
  readonly action: string
  readonly retryAfterMs?: number
  readonly receipt?: unknown
}

export function problemOf(error: unknown): Problem {
  const known = error instanceof IbidError ? error : internal()
  const { code, retriable, action, retryAfterMs, receipt } = known
  return {
    type: `urn:ibid:${code.toLowerCase().replaceAll('_', '-')}`,
    title: code.toLowerCase().replaceAll('_', ' '),
    status: own(STATUS, code) ?? 500,
    detail: own(DISCREET, code) ?? known.message,
    code,
    retriable,
    action,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs: Math.ceil(retryAfterMs) }),
    ...(receipt === undefined ? {} : { receipt }),
  }
}

export function problemAnswer(error: unknown): Answer {
  const problem = problemOf(error)
  const headers: Record<string, string> = { 'content-type': 'application/problem+json' }
  if (problem.status === 401) headers['www-authenticate'] = 'Bearer realm="ibid"'
  if (problem.retryAfterMs !== undefined)
    headers['retry-after'] = String(Math.max(1, Math.ceil(problem.retryAfterMs / 1_000)))
  return { status: problem.status, body: problem, headers }
}

export function refusal(code: string, message: string, action: string, retryAfterMs?: number): IbidError {
  return new IbidError(message, { code, action, retriable: retryAfterMs !== undefined, retryAfterMs })
}

function internal(): IbidError {
  return new IbidError('the server failed in a way that it was not made for; see its log', {
    code: 'INTERNAL',
    retriable: false,
    action: 'look the receipt up before you do anything again, and report it with the server log',
  })
}
