/** A Node request as an exchange: what `ibid/node`, `ibid/express`, `ibid/fastify` and `ibid/hono` have in common. */
import type { IncomingMessage } from 'node:http'
import type { Body, Exchange } from './exchange.js'

/** `url`: where a router has cut `incoming.url`, the whole one. */
export function nodeExchange<R>(
  incoming: IncomingMessage,
  request: R,
  body: () => Body | Promise<Body>,
  route?: string,
  url: string = incoming.url ?? '/',
): Exchange<R> {
  const at = url.indexOf('?')
  const { headers } = incoming
  return {
    method: incoming.method ?? 'GET',
    path: at < 0 ? url : url.slice(0, at),
    query: at < 0 ? '' : url.slice(at + 1),
    route,
    header: (name) => headers[name] as string | undefined,
    body,
    request,
  }
}
