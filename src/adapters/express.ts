/** `ibid/express`: the guard as Express 5 middleware, for a whole app or in front of one route. */
import type { ErrorRequestHandler, Request, RequestHandler } from 'express'
import type { IncomingMessage } from 'node:http'
import { heard } from '../guards/http/attempts.js'
import type { Body } from '../guards/http/exchange.js'
import { createGuard, type Opening, whenOpen } from '../guards/http/guard.js'
import type { HttpOptions } from '../guards/http/index.js'
import { nodeExchange } from '../guards/http/node-exchange.js'
import { parsedBody, readAndPutBack } from '../guards/http/request-body.js'
import { capture, sendAnswer } from '../guards/http/server-response.js'
import type { Ibid } from '../ibid.js'

export { attemptOf } from '../guards/http/index.js'

export function idempotent(ibid: Ibid, options: HttpOptions<Request> = {}): RequestHandler {
  const guard = createGuard(ibid, options)
  return (request, response, next) => {
    const body = (): Body | Promise<Body> => bodyOf(request, guard.maxRequestBytes)
    const { path } = (request.route ?? {}) as { readonly path?: unknown }
    const route = typeof path === 'string' ? request.baseUrl + path : undefined
    const goOn = (opening: Opening): void => {
      if (opening?.kind === 'answer') return sendAnswer(response, opening.answer)
      if (!opening || capture(response, opening)) next()
    }
    whenOpen(guard.open(nodeExchange(request, request, body, route, request.originalUrl)), goOn, next)
  }
}

/** Behind the routes: lets Rejected, NotExecuted and OutcomeUnknown, thrown by a handler, decide about the key. */
export function verdicts(): ErrorRequestHandler {
  return (error, request, _response, next) => {
    heard(request, error)
    next(error)
  }
}

/** `express.json({ verify: keepBytes })`: what was sent is compared, and not what a parser made of it. */
export function keepBytes(request: IncomingMessage, _response: unknown, bytes: Buffer): void {
  Object.assign(request, { rawBody: bytes })
}

function bodyOf(request: Request, maxBytes: number): Body | Promise<Body> {
  const body: unknown = request.body
  const { rawBody } = request as { readonly rawBody?: unknown }
  if (rawBody instanceof Uint8Array) return rawBody
  if (body instanceof Uint8Array) return body
  if (typeof body === 'string') return Buffer.from(body)
  return request.readableDidRead ? parsedBody(request, body) : readAndPutBack(request, maxBytes)
}
