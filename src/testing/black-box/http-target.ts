/**
 * An HTTP endpoint as a target. Each call has a connection of its own, so that cutting one cuts nothing else;
 * redirects are not followed.
 */
import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { IbidError } from '../../core/errors.js'
import { type Answer, lost, type Order, type Sending, type Target } from './target.js'

export interface HttpTargetOptions {
  readonly url: string | URL
  /** Default POST. */
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Default Idempotency-Key. */
  readonly keyHeader?: string
  /** What another caller sends instead, such as its `authorization`. */
  readonly otherHeaders?: Readonly<Record<string, string>>
  /** How long an answer may take. Default 30 s. */
  readonly answerMs?: number
  /** Kills the server and starts it again. It may resolve before the server listens. */
  readonly restart?: () => Promise<void>
}

/** Told to come back: the same request, later, may be answered. */
const COME_BACK = new Set([409, 423, 425, 429, 503])
/** Marks of a replay that are in use; a client that sends one is still a client. */
const SPOOFED = {
  'idempotency-replayed': 'true',
  'idempotent-replayed': 'true',
  'x-idempotency-replayed': 'true',
  'x-idempotent-replay': 'true',
  'x-hit': 'true',
  'x-cache': 'HIT',
}
const START_MS = 60_000

export function httpTarget(options: HttpTargetOptions): Target {
  const url = new URL(options.url)
  const { method = 'POST', keyHeader = 'Idempotency-Key', answerMs = 30_000, restart, otherHeaders } = options
  const open = url.protocol === 'https:' ? httpsRequest : httpRequest

  function headersOf({ key, as }: Order, body: string): Record<string, string> {
    const own = Object.keys(options.headers ?? {}).map((name) => name.toLowerCase())
    return {
      ...(body === '' || own.includes('content-type') ? {} : { 'content-type': contentTypeOf(body) }),
      ...options.headers,
      ...(as === 'other' ? otherHeaders : as === 'spoofing' ? SPOOFED : {}),
      ...(key === undefined ? {} : { [keyHeader]: key }),
    }
  }

  async function call(order: Order, { cut, onSent }: Sending = {}): Promise<Answer> {
    const body = textOf(order.payload)
    const settings: RequestOptions = {
      method,
      headers: { ...headersOf(order, body), 'content-length': String(Buffer.byteLength(body)) },
      agent: false,
    }
    return await new Promise((resolve) => {
      const request = open(url, settings, (response) => void read(response).then(resolve))
      const timer = setTimeout(() => end(`no answer in ${answerMs} ms`), answerMs)
      function end(why: string): void {
        resolve(lost(why))
        request.destroy()
      }
      cut?.addEventListener('abort', () => end('cut off by the caller'), { once: true })
      request.on('error', (error: NodeJS.ErrnoException) => end(error.code ?? error.message))
      request.on('close', () => clearTimeout(timer))
      request.on('finish', () => onSent?.())
      request.end(body)
    })
  }

  return {
    name: `${method} ${url.origin}${url.pathname}`,
    payloadName: 'body',
    // Node refuses what a header cannot hold; a client has no way to send it either.
    canCarry: (key) => /^[\t\u0020-\u007e\u0080-\u00ff]*$/.test(key),
    call,
    roles: ['spoofing', ...(otherHeaders === undefined ? [] : (['other'] as const))],
    restart: restart && (() => restart().then(async () => await untilListening(url))),
    close: async () => undefined,
  }
}

async function read(response: IncomingMessage): Promise<Answer> {
  const chunks: Buffer[] = []
  try {
    for await (const chunk of response) chunks.push(chunk as Buffer)
  } catch {
    return lost(`${response.statusCode}, and then the connection broke`)
  }
  const body = Buffer.concat(chunks)
  const status = response.statusCode ?? 0
  const facts = Object.fromEntries(
    Object.entries(response.headers).map(([name, value]) => [name, String(value)]),
  )
  const retryAfter = Number(response.headers['retry-after'])
  return {
    kind: kindOf(status, body.toString('utf8')),
    said: String(status),
    contentType: response.headers['content-type'],
    // Equal texts are equal bytes.
    body: isText(body) ? body.toString('utf8') : `base64 ${body.toString('base64')}`,
    facts,
    retryAfterMs: Number.isFinite(retryAfter) ? retryAfter * 1_000 : undefined,
  }
}

function isText(body: Buffer): boolean {
  return Buffer.from(body.toString('utf8'), 'utf8').equals(body)
}

function kindOf(status: number, body: string): Answer['kind'] {
  if (status < 400) return 'done'
  if (COME_BACK.has(status)) return saysNever(body) ? 'refused' : 'wait'
  return status < 500 || saysNever(body) ? 'refused' : 'failed'
}

/** A problem that says in so many words that the same request is not to be repeated. */
function saysNever(body: string): boolean {
  try {
    const problem = JSON.parse(body) as { readonly retriable?: unknown } | null
    return problem?.retriable === false
  } catch {
    return false
  }
}

function textOf(payload: unknown): string {
  return payload === undefined ? '' : typeof payload === 'string' ? payload : JSON.stringify(payload)
}

function contentTypeOf(body: string): string {
  try {
    JSON.parse(body)
    return 'application/json'
  } catch {
    return 'text/plain; charset=utf-8'
  }
}

async function untilListening({ hostname, port, protocol }: URL): Promise<void> {
  const host = hostname.replace(/^\[(.*)\]$/, '$1')
  const number = Number(port) || (protocol === 'https:' ? 443 : 80)
  const until = Date.now() + START_MS
  while (!(await accepts(host, number))) {
    if (Date.now() > until) {
      throw new IbidError(`nothing listens at ${host}:${number} after the restart`, {
        code: 'TARGET_GONE',
        retriable: false,
        action: 'give a restart command that leaves the server running at the same address',
      })
    }
    await sleep(50)
  }
}

async function accepts(host: string, port: number): Promise<boolean> {
  return await new Promise((resolve) => {
    const socket = connect(port, host)
    const end = (isOpen: boolean) => () => {
      socket.destroy()
      resolve(isOpen)
    }
    socket.once('connect', end(true)).once('error', end(false))
  })
}
