/**
 * What the vendor is told. Only the status decides whether it sends the event again: 2xx ends it, everything else
 * asks for it again. Whoever is not believed learns nothing: every refusal is the same, whatever was wrong.
 */

/** What became of a delivery, as far as the vendor's dashboard should show it. */
export type Received = 'handled' | 'duplicate' | 'rejected' | 'in-flight'

const NOTHING = 'nothing was executed and nothing was written'
const AGAIN = 'send the same event again'

const PROBLEMS = {
  SIGNATURE_REFUSED: [401, 'Unauthorized', `the delivery was refused; ${NOTHING}`, 'sign the exact bytes'],
  METHOD_NOT_ALLOWED: [405, 'Method Not Allowed', NOTHING, 'send it with POST'],
  BODY_TIMEOUT: [408, 'Request Timeout', `the body took too long; ${NOTHING}`, AGAIN],
  BODY_BROKEN_OFF: [400, 'Bad Request', `the body broke off; ${NOTHING}`, AGAIN],
  BODY_TOO_LARGE: [
    413,
    'Content Too Large',
    `the body is over the limit; ${NOTHING}`,
    'send a smaller event',
  ],
  INVALID_EVENT: [422, 'Unprocessable Content', `it has no usable event id; ${NOTHING}`, 'see the docs'],
  UNKNOWN_TENANT: [422, 'Unprocessable Content', `it belongs to no known tenant; ${NOTHING}`, 'see the docs'],
  KEY_REUSED: [
    422,
    'Unprocessable Content',
    'this event id came before with another body; this one was not handled',
    'a person has to look: an event id must not be used twice',
  ],
  RETRY_IN_FLIGHT: [409, 'Conflict', 'this event is being handled right now', `${AGAIN} to learn its result`],
  OUTCOME_UNKNOWN: [
    503,
    'Service Unavailable',
    'it is not known whether this event was handled; it is held for a person',
    `${AGAIN} later: it is handled, or known to be handled, once a person has decided`,
  ],
  STORE_UNAVAILABLE: [503, 'Service Unavailable', 'the event is not recorded as handled', AGAIN],
  LEASE_LOST: [409, 'Conflict', 'another attempt has taken this event over', `${AGAIN} to learn its result`],
  NOT_HANDLED: [503, 'Service Unavailable', 'the event is not recorded as handled', AGAIN],
  NOT_ANSWERED: [
    503,
    'Service Unavailable',
    'the event was handled, and the answer to it could not be made',
    `${AGAIN} for its answer: it is not handled twice`,
  ],
} as const satisfies Record<string, readonly [number, string, string, string]>

export type ProblemCode = keyof typeof PROBLEMS

const FINAL: ReadonlySet<ProblemCode> = new Set([
  'SIGNATURE_REFUSED',
  'METHOD_NOT_ALLOWED',
  'BODY_TOO_LARGE',
  'INVALID_EVENT',
  'UNKNOWN_TENANT',
  'KEY_REUSED',
])

export function problem(code: ProblemCode, retryAfterMs?: number): Response {
  const [status, title, detail, action] = PROBLEMS[code]
  const headers = new Headers({ 'content-type': 'application/problem+json', 'cache-control': 'no-store' })
  if (status === 401) headers.set('www-authenticate', 'Signature')
  if (status === 405) headers.set('allow', 'POST')
  // The rest of a body that nobody reads must not be taken for the next request.
  if (status === 408 || status === 413) headers.set('connection', 'close')
  if (retryAfterMs !== undefined) headers.set('retry-after', String(Math.ceil(retryAfterMs / 1_000)))
  const retriable = !FINAL.has(code)
  const said = { type: 'about:blank', title, status, detail, code, retriable, action }
  return new Response(JSON.stringify(said), { status, headers })
}

export function received(how: Received, silent: boolean): Response {
  const headers = new Headers({ 'cache-control': 'no-store' })
  if (how === 'duplicate') headers.set('idempotency-replayed', 'true')
  const status = how === 'in-flight' ? 202 : 200
  if (silent) return new Response(null, { status, headers })
  headers.set('content-type', 'application/json')
  return new Response(JSON.stringify({ received: true, outcome: how }), { status, headers })
}

export function challengeAnswer(answer: string): Response {
  return new Response(answer, { status: 200, headers: { 'content-type': 'text/plain; charset=utf-8' } })
}
