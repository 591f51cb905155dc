/**
 * Errors as RFC 9457 problem+json: the status for programs that know HTTP, `code`, `retriable` and `action` for whoever
 * acts on it, a model included. The message of an error from inside, which can name hosts and tables, stays inside.
 */
import { IbidError, Rejected } from '../../core/errors.js'
import { own } from '../../core/own.js'
import type { Answer } from './exchange.js'
import { jsonText } from './json-text.js'

const STATUS: Readonly<Record<string, number>> = {
  INVALID_INTENT: 400,
  INVALID_ARGUMENTS: 400,
  FORBIDDEN_SCOPE: 403,
  NO_RECEIPT: 404,
  RETRY_IN_FLIGHT: 409,
  OUTCOME_UNKNOWN: 409,
  LEASE_LOST: 409,
  NEEDS_HUMAN: 409,
  VERSION_MISMATCH: 409,
  DIVERGED_REPLAY: 409,
  VALUE_NOT_RETAINED: 410,
  TOO_LARGE: 413,
  KEY_REUSED: 422,
  ADMISSION_REJECTED: 429,
  INVALID_OPTIONS: 500,
  UNREADABLE_BODY: 500,
  STORE_UNAVAILABLE: 503,
  UNSAFE_STORE: 503,
  CLOSED: 503,
  NOT_EXECUTED: 503,
  UPSTREAM_TIMEOUT: 504,
}

const TITLES: Readonly<Record<number, string>> = {
  400: 'The idempotency key is missing or malformed',
  403: 'The request belongs to nobody',
  404: 'There is no receipt for this key',
  409: 'The outcome of this key is not settled',
  410: 'Completed, body not retained',
  413: 'The body is too long to be compared',
  422: 'The request was refused',
  429: 'Too many requests',
  500: 'The idempotency guard is not set up',
  503: 'Receipts cannot be written right now',
  504: 'The handler did not end in time',
}

const OWN_TITLES: Readonly<Record<string, string>> = {
  KEY_REUSED: 'The idempotency key belongs to another request',
  RETRY_IN_FLIGHT: 'A request with this idempotency key is in flight',
  OUTCOME_UNKNOWN: 'It is not known whether the request was carried out',
  NOT_EXECUTED: 'Nothing was executed',
}

/** What these say is for the operator. The world gets the fact. */
const DISCREET: Readonly<Record<string, string>> = {
  STORE_UNAVAILABLE: 'the store of idempotency receipts did not answer; see code and action',
  UNSAFE_STORE: 'the store of idempotency receipts is not set up to keep its promises; nothing was executed',
  CLOSED: 'this server is shutting down and did not start this request; see code and action',
  OUTCOME_UNKNOWN: 'an earlier request with this key may or may not have been carried out',
}

/** The action of the error itself is for the program that was closed. Its client has others to ask. */
const CLOSED_ACTION = 'send the same request with the same key again'

/** `statusUrl`: where the outcome of the key can be asked for. */
export function problemOf(error: IbidError, statusUrl?: string): Answer {
  const { code, retryAfterMs, receipt, replayed, data } = error
  // A refusal of the handler's may carry any code, also one of ours: only our own errors are read by theirs.
  const isOwn = error instanceof Rejected && own(DISCREET, code) !== undefined
  const isClosed = code === 'CLOSED' && !isOwn
  const retriable = error.retriable || isClosed
  const status = isOwn ? 422 : statusOf(error)
  const said = jsonText(data)
  const seconds = retriable ? Math.max(1, Math.ceil((retryAfterMs ?? 1_000) / 1_000)) : undefined
  const headers = ['content-type', 'application/problem+json', 'cache-control', 'no-store']
  if (seconds !== undefined) headers.push('retry-after', String(seconds))
  if (replayed) headers.push('idempotency-replayed', 'true')
  if (statusUrl !== undefined) {
    headers.push('location', statusUrl, 'link', `<${statusUrl}>; rel="status"`)
  }
  const body = {
    type: `urn:ibid:${code.toLowerCase().replaceAll('_', '-')}`,
    title: (isOwn ? undefined : own(OWN_TITLES, code)) ?? TITLES[status] ?? 'The request was refused',
    status,
    detail: isOwn ? error.message : (own(DISCREET, code) ?? error.message),
    code,
    retriable,
    action: isClosed ? CLOSED_ACTION : error.action,
    // A refusal for good has no time to come again, and its receipt keeps none: a replay is the same.
    ...(retryAfterMs === undefined || !retriable ? {} : { retryAfterMs }),
    ...(said === undefined ? {} : { data: JSON.parse(said) as unknown }),
    ...(receipt === undefined
      ? {}
      : {
          receipt: {
            scope: receipt.scope,
            key: receipt.key,
            state: receipt.state,
            attempt: receipt.attempt,
            createdAt: receipt.createdAt,
          },
        }),
  }
  return { status, headers, body: JSON.stringify(body) }
}

function statusOf({ code, message, cause }: IbidError): number {
  // The program named no tenant, neither here nor in createIbid: not for the client to mend.
  if (code === 'INVALID_INTENT' && message.startsWith('tenant is missing')) return 500
  const tooLate = cause instanceof IbidError && cause.code === 'UPSTREAM_TIMEOUT'
  return tooLate ? 504 : (own(STATUS, code) ?? 422)
}
