/** `ibid/next`: the guard around a route handler of Next.js: `export const POST = guard(async (request) => …)`. */
import type { NextRequest } from 'next/server.js'
import { type HttpOptions, idempotent as guardOf } from '../guards/http/index.js'
import type { Ibid } from '../ibid.js'

export { attemptOf } from '../guards/http/index.js'

export type RouteHandler<C> = (request: NextRequest, context: C) => Response | Promise<Response>

export function idempotent(
  ibid: Ibid,
  options: HttpOptions<NextRequest> = {},
): <C>(handler: RouteHandler<C>) => (request: NextRequest, context: C) => Promise<Response> {
  const guard = guardOf(ibid, options)
  return (handler) => (request, context) => guard(request, (same) => handler(same, context))
}
