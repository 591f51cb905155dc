/** `ibid/fastify`: the guard as a Fastify 5 plugin, for all routes of the context that it is registered in. */
import type { FastifyPluginCallback, FastifyReply, FastifyRequest } from 'fastify'
import { Readable } from 'node:stream'
import { heard } from '../guards/http/attempts.js'
import type { Answer, Body } from '../guards/http/exchange.js'
import { createGuard, isSafe, type Opening, whenOpen } from '../guards/http/guard.js'
import type { HttpOptions } from '../guards/http/index.js'
import { isNamed } from '../guards/http/kept-headers.js'
import { nodeExchange } from '../guards/http/node-exchange.js'
import { joined, parsedBody, readAndPutBack, watchBody } from '../guards/http/request-body.js'
import { capture } from '../guards/http/server-response.js'
import type { Ibid } from '../ibid.js'

export { attemptOf } from '../guards/http/index.js'

const SEEN = Symbol('ibid bytes')
type Watched = FastifyRequest & { [SEEN]?: readonly Uint8Array[] | undefined }

/** `app.register(idempotent(ibid, options))`. Authenticate before: in an earlier hook, or in one registered earlier. */
export function idempotent(ibid: Ibid, options: HttpOptions<FastifyRequest> = {}): FastifyPluginCallback {
  const guard = createGuard(ibid, options)

  function bodyOf({ raw, body, [SEEN]: seen }: Watched): Body | Promise<Body> {
    if (seen && raw.complete) return joined(seen, guard.maxRequestBytes)
    return raw.readableDidRead ? parsedBody(raw, body) : readAndPutBack(raw, guard.maxRequestBytes)
  }

  const plugin: FastifyPluginCallback = (app, _options, registered) => {
    app.addHook('preParsing', (request: Watched, _reply, payload, done) => {
      if (isSafe(request.method) || (request[SEEN] = watchBody(request.raw))) return done(null, payload)
      if (payload !== request.raw || request.raw.readableDidRead) return done(null, payload)
      const goOn = (bytes: Uint8Array): void => {
        request[SEEN] = [bytes]
        done(null, payload)
      }
      Promise.resolve(readAndPutBack(request.raw, guard.maxRequestBytes)).then(goOn, done)
    })

    app.addHook('preHandler', (request, reply, done) => {
      const { routeOptions, raw } = request
      const goOn = (opening: Opening): void => {
        if (opening?.kind === 'answer') return answer(reply, opening.answer)
        if (!opening || capture(reply.raw, opening)) done()
        else reply.hijack()
      }
      whenOpen(guard.open(nodeExchange(raw, request, () => bodyOf(request), routeOptions.url)), goOn, done)
    })

    app.addHook('onError', (request, _reply, error, done) => {
      heard(request, error)
      done()
    })
    registered()
  }
  // Hooks are for the context that registers the plugin, not for one of its own.
  return Object.assign(plugin, { [Symbol.for('skip-override')]: true })
}

function answer(reply: FastifyReply, { status, headers, body }: Answer): void {
  // Somebody has answered while this waited.
  if (reply.raw.headersSent) return
  reply.code(status)
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] as string
    // Given twice, the second would take the place of the first.
    const before = isNamed(headers, name, i) ? [reply.getHeader(name)].flat() : []
    reply.header(name, before.length === 0 ? headers[i + 1] : [...before, headers[i + 1]])
  }
  // With a serializer of its own, a text that is JSON already would be made JSON once more.
  if (reply.hasHeader('content-type')) reply.serializer(AS_IT_IS).send(body)
  else if (body.length === 0) reply.send()
  else reply.header('content-length', Buffer.byteLength(body)).send(untyped(body))
}

/** What Fastify gives no type to, where the first response had none. */
function untyped(body: string | Uint8Array): Readable {
  return Readable.from([Buffer.from(body as string)])
}

const AS_IT_IS = (body: unknown): string => body as string
