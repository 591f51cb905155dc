/**
 * The way to an MCP server over HTTP. It goes to the one address that was configured, follows no redirect, and
 * has no time-out of its own: a tool may take long, and how long is the guard's to say.
 */
import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { Readable } from 'node:stream'
import type { ReadableStream as NodeStream } from 'node:stream/web'
import { invalidIntent, NotExecuted } from '../../core/errors.js'
import { OF_THE_CONNECTION } from '../../guards/http/connection-headers.js'

export interface UpstreamRequest {
  readonly method: string
  readonly headers: Headers
  readonly body?: string
  /** Left out where the request has to be seen through. */
  readonly signal?: AbortSignal
  /** What the client's URL has behind its question mark: added to what the configured one has. */
  readonly search: string
}

/** Rejects with NotExecuted where nothing can have been sent. */
export type Upstream = (request: UpstreamRequest) => Promise<Response>

/** What the client can unpack says nothing of what we can. */
const NOT_PASSED = new Set([...OF_THE_CONNECTION, 'accept-encoding'])
const NEVER_SENT = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN'])
const BODILESS = new Set([204, 205, 304])

export function searchOf(request: Request): string {
  return new URL(request.url).search
}

export function passable(headers: Headers): Headers {
  const passed = new Headers()
  for (const [name, value] of headers) if (!NOT_PASSED.has(name)) passed.append(name, value)
  return passed
}

export function httpUpstream(address: string | URL): Upstream {
  const url = readUrl(address)
  return async ({ method, headers, body, signal, search }) =>
    await new Promise<Response>((resolve, reject) => {
      const target = new URL(url)
      for (const [name, value] of new URLSearchParams(search)) target.searchParams.append(name, value)
      const sent = (target.protocol === 'https:' ? requestHttps : requestHttp)(target, {
        method,
        headers: Object.fromEntries(passable(headers)),
        ...(signal && { signal }),
      })
      sent.on('error', (error: NodeJS.ErrnoException) => {
        reject(
          NEVER_SENT.has(error.code ?? '')
            ? new NotExecuted(`the upstream cannot be reached: ${error.code}`)
            : error,
        )
      })
      sent.on('response', (response) => {
        const { statusCode: status = 502 } = response
        const received = new Headers()
        for (const [name, values] of Object.entries(response.headersDistinct)) {
          for (const value of values ?? []) received.append(name, value)
        }
        const hasBody = !BODILESS.has(status)
        // Nobody reads one that is not there, and its connection would be kept for ever.
        if (!hasBody) response.resume()
        const content = hasBody ? (Readable.toWeb(response) as NodeStream<Uint8Array>) : null
        resolve(new Response(content, { status, headers: passable(received) }))
      })
      sent.end(body)
    })
}

function readUrl(address: string | URL): URL {
  const url = URL.canParse(String(address)) ? new URL(address) : undefined
  if (url && /^https?:$/.test(url.protocol)) return url
  throw invalidIntent(`${String(address)} is no address of an MCP server`, 'give a URL with http or https')
}
