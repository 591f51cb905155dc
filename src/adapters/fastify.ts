/** `ibid/fastify`: the guard as a Fastify 5 plugin, for all routes of the context that it is registered in. */
import type { FastifyPluginCallback, FastifyRequest } from 'fastify'
import type { Readable } from 'node:stream'
import { heard } from '../guards/http/attempts.js'
import { createGuard, isSafe } from '../guards/http/guard.js'
import type { HttpOptions } from '../guards/http/index.js'
import { nodeExchange } from '../guards/http/node-exchange.js'
import { readAndPutBack, readAndRenew } from '../guards/http/request-body.js'
import { capture } from '../guards/http/server-response.js'
import type { Ibid } from '../ibid.js'

export { attemptOf } from '../guards/http/index.js'

/** `app.register(idempotent(ibid, options))`. Authenticate in a hook before `preHandler`, or one registered earlier. */
export function idempotent(ibid: Ibid, options: HttpOptions<FastifyRequest> = {}): FastifyPluginCallback {
  const guard = createGuard(ibid, options)
  const sent = new WeakMap<FastifyRequest, Uint8Array>()

  const plugin: FastifyPluginCallback = (app, _options, registered) => {
    app.addHook('preParsing', async (request, _reply, payload) => {
      if (isSafe(request.method)) return payload
      if (payload === request.raw) {
        sent.set(request, await readAndPutBack(request.raw, guard.maxRequestBytes))
        return payload
      }
      const { bytes, stream } = await readAndRenew(payload, guard.maxRequestBytes)
      sent.set(request, bytes)
      return stream
    })

    app.addHook('preHandler', (request, reply, done) => {
      const body = (): Uint8Array => sent.get(request) ?? new Uint8Array()
      guard.open(nodeExchange(request.raw, request, body, request.routeOptions.url)).then((opening) => {
        if (opening?.kind === 'answer') {
          const { status, headers, body } = opening.answer
          reply.code(status)
          for (let i = 0; i < headers.length; i += 2) reply.header(headers[i] as string, headers[i + 1])
          return void reply.send(Buffer.from(body as string))
        }
        if (opening) capture(reply.raw, opening)
        done()
      }, done)
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
