/** Requests over real sockets, with headers as wrong as a test wants them. */
import { randomUUID } from 'node:crypto'
import { type ClientRequest, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http'
import type { Agent } from 'node:http'

export interface Ask {
  readonly method?: string
  readonly path?: string
  /** Sent as it is; undefined sends none. */
  readonly key?: string | undefined
  readonly headers?: Readonly<Record<string, string | string[]>>
  readonly body?: string | Uint8Array
  readonly agent?: Agent
  /** How long it may take. */
  readonly ms?: number
}

export interface Got {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  readonly text: string
  readonly replayed: boolean
}

export interface Problem {
  readonly code: string
  readonly status: number
  readonly action: string
  readonly retriable: boolean
  readonly detail: string
}

export const BODY = JSON.stringify({ payment: 'pay_8123', amount: 14_000, reason: 'lost' })

/** The request on its way, for tests that break it off. */
export function send(port: number, ask: Ask): ClientRequest {
  const { method = 'POST', path = '/act', key, body = BODY, agent } = ask
  const hasBody = method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS'
  const sent = request({
    port,
    host: '127.0.0.1',
    method,
    path,
    agent: agent ?? false,
    ...(ask.ms === undefined ? {} : { signal: AbortSignal.timeout(ask.ms) }),
    headers: {
      ...(hasBody ? { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) } : {}),
      ...(key === undefined ? {} : { 'idempotency-key': key }),
      ...ask.headers,
    },
  })
  sent.end(hasBody ? body : undefined)
  return sent
}

export function call(port: number, ask: Ask): Promise<Got> {
  return new Promise((resolve, reject) => {
    send(port, ask)
      .on('error', reject)
      .on('response', (response) => {
        whole(response).then(resolve, reject)
      })
  })
}

export async function whole(response: IncomingMessage): Promise<Got> {
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk as Buffer)
  const body = Buffer.concat(chunks)
  const { statusCode = 0, headers } = response
  const replayed = headers['idempotency-replayed'] === 'true'
  return { status: statusCode, headers, body, text: body.toString(), replayed }
}

export const problem = (got: Got): Problem => JSON.parse(got.text) as Problem

/** A key and a mark that nobody else has. */
export function fresh(): { readonly key: string; readonly mark: string } {
  const id = randomUUID()
  return { key: `"${id}"`, mark: id }
}
