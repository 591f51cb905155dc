/**
 * The way to a configured origin, and to no other: host, port and scheme come from the settings, never from a
 * request. Redirects are answers like others; nobody follows them.
 */
import {
  Agent as HttpAgent,
  type ClientRequest,
  type IncomingMessage,
  request as requestHttp,
} from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import { NotExecuted } from '../core/errors.js'
import { OF_THE_CONNECTION } from '../guards/http/connection-headers.js'
import { type Body, framingOf, sendBody } from './framing.js'

export interface Origin {
  readonly url: URL
  /** Sends a request with this body, and states where it ends: `headers` must not. `path` is the whole one. */
  send(method: string, path: string, headers: readonly string[], body: Body): ClientRequest
  close(): void
}

/** Most servers drop a connection that is silent for five seconds: a write must not meet one that is just closing. */
const IDLE_MS = 4_000
const NEVER_SENT = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'])

/** A message without them would mean something else: no sender can declare them to be of its connection alone. */
const OF_THE_MEANING =
  /^(content-.+|if-.+|authorization|cache-control|cookie|location|range|set-cookie|x-api-key|(x-)?idempotency-key)$/
const NO_BODY = new Uint8Array()

export function originOf(address: string): Origin {
  const url = new URL(address)
  const isSecure = url.protocol === 'https:'
  const agent = new (isSecure ? HttpsAgent : HttpAgent)({ keepAlive: true, timeout: IDLE_MS })
  const request = isSecure ? requestHttps : requestHttp
  const { hostname, port, host } = url
  return {
    url,
    send(method, path, headers, body) {
      const framing = framingOf(method, body)
      const opened = request({
        agent,
        hostname: hostname.replace(/^\[(.*)\]$/, '$1'),
        ...(port !== '' && { port }),
        method,
        path,
        headers: ['host', host, ...framing, ...headers] as never,
      })
      sendBody(opened, framing.length === 0 ? NO_BODY : body)
      return opened
    },
    close: () => agent.destroy(),
  }
}

const NONE: ReadonlySet<string> = new Set()

/** Name, value, name, value: what may go on to the other side. `kept`: what no sender can declare away. */
export function passable(
  rawHeaders: readonly string[],
  without: ReadonlySet<string> = NONE,
  kept?: string,
): string[] {
  let named = NONE
  const passed: string[] = []
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = (rawHeaders[i] as string).toLowerCase()
    const value = rawHeaders[i + 1] as string
    if (name === 'connection' && !/^(keep-alive|close)$/i.test(value)) named = namesIn(value, named)
    // Whoever sends a body states where it ends.
    if (OF_THE_CONNECTION.has(name) || without.has(name)) continue
    passed.push(name, value)
  }
  if (named.size === 0) return passed
  return passed.filter((_, i) => {
    const name = passed[i - (i % 2)] as string
    return !named.has(name) || name === kept || OF_THE_MEANING.test(name)
  })
}

/** Headers that the sender declared to be of its connection alone. */
function namesIn(value: string, before: ReadonlySet<string>): ReadonlySet<string> {
  return new Set([...before, ...value.split(',').map((name) => name.trim().toLowerCase())])
}

/** The head of the answer. Rejects with NotExecuted where nothing can have been sent. */
export function headOf(request: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.on('response', resolve)
    request.on('error', (error: NodeJS.ErrnoException) => {
      const never = NEVER_SENT.has(error.code ?? '')
      reject(never ? new NotExecuted(`the origin cannot be reached: ${error.code}`, { cause: error }) : error)
    })
  })
}
