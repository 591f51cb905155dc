/**
 * The reverse proxy: in front of an API that knows nothing of ibid, so that each write with an Idempotency-Key
 * reaches it once. What is no write passes. Whose key it is depends on who sent it: two callers may choose the
 * same one.
 */
import { hash } from 'node:crypto'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { IbidError, NotExecuted } from '../core/errors.js'
import { credentialsIn } from '../guards/http/credentials.js'
import { createGuard, type Guard } from '../guards/http/guard.js'
import { nodeExchange } from '../guards/http/node-exchange.js'
import { readAndPutBack } from '../guards/http/request-body.js'
import type { Run } from '../guards/http/run.js'
import { capture, sendAnswer } from '../guards/http/server-response.js'
import type { Ibid } from '../ibid.js'
import { headOf, type Origin, originOf, passable } from './forward.js'
import { isCoded, lengthOf } from './framing.js'
import { type Log, shown } from './log.js'
import type { Settings } from './settings.js'

export interface Proxy {
  readonly listener: RequestListener
  close(): void
}

const REQUIRED = { required: true, optional: false, derived: 'derived' } as const
/** A client must not make a first answer look like a replay, nor an answer of the proxy like the origin's. */
const OURS = new Set(['idempotency-replayed', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto'])
const NOTHING = new Uint8Array()

export function createProxy(ibid: Ibid, upstream: string, settings: Settings, log: Log): Proxy {
  const origin = originOf(upstream)
  const guard = createGuard<IncomingMessage>(ibid, {
    tenant: (request) => callerOf(request, settings),
    required: REQUIRED[settings.proxyKeys],
    policy: { recovery: settings.proxyRecovery },
  })
  const listener = relay(origin, guard, log, settings.proxyTenantHeader?.toLowerCase())
  return { listener, close: () => origin.close() }
}

/** Requests to the origin, past the guard. `callerHeader`: what names the caller to the origin too. @public */
export function relay(
  origin: Origin,
  guard: Guard<IncomingMessage>,
  log: Log,
  callerHeader?: string,
): RequestListener {
  async function serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    if (isCoded(incoming)) return sendAnswer(outgoing, CODED)
    let run: Run | undefined
    let sent: Uint8Array | undefined
    const body = async (): Promise<Uint8Array> =>
      (sent = await readAndPutBack(incoming, guard.maxRequestBytes))
    try {
      const opening = await guard.open(nodeExchange(incoming, incoming, body))
      if (opening?.kind === 'answer') return sendAnswer(outgoing, opening.answer)
      run = opening
      if (run && !capture(outgoing, run)) return
      const headers = [...passable(incoming.rawHeaders, OURS, callerHeader), ...forwarded(incoming)]
      await passOn(origin, incoming, outgoing, headers, run && (sent ?? NOTHING))
    } catch (error) {
      run?.heard(error)
      log.warn('the upstream did not answer', { method: incoming.method, ...shown(error) })
      if (outgoing.headersSent) outgoing.destroy()
      else sendAnswer(outgoing, error instanceof NotExecuted ? UNREACHABLE : BROKEN)
    }
  }
  return (incoming, outgoing) => void serve(incoming, outgoing)
}

/**
 * `sent`: the body of a write that is under way. Its answer is wanted even when nobody listens any more, so
 * that nothing of it may depend on the client's connection.
 */
async function passOn(
  origin: Origin,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  headers: readonly string[],
  sent: Uint8Array | undefined,
): Promise<void> {
  const method = incoming.method ?? 'GET'
  const request = origin.send(method, pathAt(origin.url, incoming.url ?? '/'), headers, sent ?? incoming)
  if (sent) incoming.resume()
  else outgoing.once('close', () => request.destroy())
  const answer = await headOf(request)
  outgoing.writeHead(answer.statusCode ?? 502, [...passable(answer.rawHeaders, OURS), ...lengthOf(answer)])
  if (method === 'HEAD') outgoing.end()
  else await pipe(answer, outgoing)
}

/**
 * An answer that is there at once goes out in one piece, which is also what waits for its receipt as a whole; a
 * longer one streams. Not `pipeline`: that makes a controller, a signal and an error for every response.
 */
function pipe(answer: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve, reject) => {
    let isBegun = false
    answer.once('readable', () => {
      isBegun = true
      const first = answer.read() as Buffer | null
      const isWhole = answer.complete && answer.readableLength === 0
      if (isWhole) outgoing.end(first ?? undefined)
      else if (first) outgoing.write(first)
      if (isWhole) answer.resume()
      else answer.pipe(outgoing)
    })
    answer.on('end', () => {
      // An empty one has nothing to read.
      if (!isBegun) outgoing.end()
      resolve()
    })
    answer.on('error', reject)
    answer.on('close', () => answer.complete || reject(new BrokenOff('the upstream broke off in the middle')))
  })
}

class BrokenOff extends Error {}

/** The caller's own corner of the tenant. Kept as a digest: a credential is nobody's name. */
function callerOf(
  { headers }: IncomingMessage,
  { proxyTenant, proxyTenantHeader }: Settings,
): string | undefined {
  if (proxyTenantHeader !== undefined) {
    const named = headers[proxyTenantHeader.toLowerCase()]
    return typeof named === 'string' && named !== '' ? `${proxyTenant}:${digest(named)}` : undefined
  }
  const given = credentialsIn((name) => headers[name]?.toString())
  if (given === undefined) throw onlyCookie()
  return given === null ? proxyTenant : `${proxyTenant}:${digest(given)}`
}

function onlyCookie(): IbidError {
  return new IbidError('a cookie does not tell whose request this is; nothing was executed', {
    code: 'FORBIDDEN_SCOPE',
    retriable: false,
    action:
      'let something you trust name the account in a header, and give its name to --proxy-tenant-header; ' +
      'or send Authorization or X-API-Key',
  })
}

function digest(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, 22)
}

function forwarded(incoming: IncomingMessage): string[] {
  const before = incoming.headers['x-forwarded-for']
  const from = incoming.socket.remoteAddress ?? 'unknown'
  const via = before === undefined ? from : `${[before].flat().join(', ')}, ${from}`
  return [
    'x-forwarded-for',
    via,
    'x-forwarded-host',
    incoming.headers.host ?? '',
    'x-forwarded-proto',
    'http',
  ]
}

/** Below the path of the upstream. */
function pathAt(upstream: URL, url: string): string {
  return upstream.pathname.replace(/\/$/, '') + pathOf(url)
}

/** What a client puts into the request line is not always a path, and must never name another host. */
function pathOf(url: string): string {
  if (url.startsWith('/')) return url
  if (!URL.canParse(url)) return '/'
  const { pathname, search } = new URL(url)
  return pathname + search
}

function problem(status: number, title: string, retriable: boolean) {
  return {
    status,
    headers: ['content-type', 'application/problem+json', 'cache-control', 'no-store'],
    body: JSON.stringify({ type: 'about:blank', title, status, retriable }),
  }
}

const UNREACHABLE = problem(502, 'The upstream cannot be reached; nothing was executed', true)
const BROKEN = problem(502, 'The upstream did not answer; it may have been executed', false)
const CODED = problem(
  501,
  'The only transfer coding that is understood is chunked; nothing was executed',
  false,
)
