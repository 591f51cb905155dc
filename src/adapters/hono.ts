/**
 * `ibid/hono`: the guard as Hono middleware. On Node it works on the request and response underneath, where the bytes
 * are at hand; anywhere else on Fetch's.
 */
import type { Context, MiddlewareHandler, Next } from 'hono'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { clientGone } from '../guards/http/client-gone.js'
import type { Body, Exchange } from '../guards/http/exchange.js'
import { toResponse } from '../guards/http/fetch-response.js'
import { perform } from '../guards/http/fetch-run.js'
import { createGuard } from '../guards/http/guard.js'
import type { HttpOptions } from '../guards/http/index.js'
import { nodeExchange } from '../guards/http/node-exchange.js'
import { checkLength, readAndPutBack, readClone } from '../guards/http/request-body.js'
import type { Run } from '../guards/http/run.js'
import { capture } from '../guards/http/server-response.js'
import type { Ibid } from '../ibid.js'

export { attemptOf } from '../guards/http/index.js'

interface Underneath {
  readonly incoming?: IncomingMessage & { rawBody?: Uint8Array }
  readonly outgoing?: ServerResponse
}

export function idempotent(ibid: Ibid, options: HttpOptions<Context> = {}): MiddlewareHandler {
  const guard = createGuard(ibid, options)
  return async (context, next) => {
    const under = (context.env ?? {}) as Underneath
    const { outgoing } = under
    const opening = await guard.open(exchangeOf(context, under, guard.maxRequestBytes))
    if (opening === undefined) return next()
    if (opening.kind === 'answer') return toResponse(opening.answer)
    if (outgoing ? !capture(outgoing, opening) : context.req.raw.signal.aborted) {
      await opening.fail(clientGone())
      return new Response(null, { status: 499 })
    }
    if (outgoing) {
      await next()
      if (context.error) opening.heard(context.error)
      return
    }
    const response = await perform(opening, () => respond(context, next, opening))
    context.res = undefined
    context.res = response
  }
}

async function respond(context: Context, next: Next, run: Run): Promise<Response> {
  await next()
  if (context.error) run.heard(context.error)
  return context.res
}

function exchangeOf(context: Context, { incoming }: Underneath, maxBytes: number): Exchange<Context> {
  const { req } = context
  async function body(): Promise<Body> {
    if (incoming && !incoming.readableDidRead) {
      // Where Hono's server for Node looks first.
      return (incoming.rawBody = await readAndPutBack(incoming, maxBytes))
    }
    const length = req.header('content-length')
    // Nobody says how long it will be, so that it is counted while it comes.
    if (!incoming && length === undefined && !req.raw.bodyUsed) return readClone(req.raw, maxBytes)
    checkLength(Number(length ?? 0), maxBytes)
    const bytes = new Uint8Array(await req.arrayBuffer())
    checkLength(bytes.length, maxBytes)
    return bytes
  }
  const route = req.matchedRoutes.at(-1)?.path
  const known = route?.includes('*') ? undefined : route
  if (incoming) return nodeExchange(incoming, context, body, known)
  const { pathname, search } = new URL(req.url)
  const header = (name: string): string | undefined => req.header(name)
  return {
    method: req.method,
    path: pathname,
    query: search.slice(1),
    route: known,
    header,
    body,
    request: context,
  }
}
