/** `ibid/http`: the Idempotency-Key header over Fetch `Request` and `Response`. */
import type { Attempt } from '../../core/policy.js'
import type { Ibid } from '../../ibid.js'
import { clientGone } from './client-gone.js'
import type { Exchange } from './exchange.js'
import { toResponse } from './fetch-response.js'
import { perform } from './fetch-run.js'
import { createGuard } from './guard.js'
import type { HttpOptions } from './options.js'
import { readClone } from './request-body.js'

export { attemptOf } from './attempts.js'
export type { HttpOptions, Requirement } from './options.js'
export { DEFAULT_VERDICTS, type StatusClass, type Verdict, type Verdicts } from './verdict.js'

/** `attempt` is undefined for requests that are not guarded. */
export type Next<R extends Request = Request> = (
  request: R,
  attempt?: Attempt,
) => Response | Promise<Response>

/**
 * Runs `next` once for each key of a tenant and operation, and answers every duplicate with the first response.
 * Errors that `next` throws come out again, unless they are ibid's own, which become problem+json.
 */
export function idempotent<R extends Request = Request>(
  ibid: Ibid,
  options: HttpOptions<R> = {},
): (request: R, next: Next<R>) => Promise<Response> {
  const guard = createGuard(ibid, options)
  return async (request, next) => {
    const opening = await guard.open(exchangeOf(request, guard.maxRequestBytes))
    if (opening === undefined) return next(request)
    if (opening.kind === 'answer') return toResponse(opening.answer)
    return perform(opening, async () => {
      if (request.signal.aborted) throw clientGone()
      return next(request, opening.attempt)
    })
  }
}

function exchangeOf<R extends Request>(request: R, maxBytes: number): Exchange<R> {
  const { pathname, search } = new URL(request.url)
  return {
    method: request.method,
    path: pathname,
    query: search.slice(1),
    header: (name) => request.headers.get(name) ?? undefined,
    body: () => readClone(request, maxBytes),
    request,
  }
}
