/**
 * A function from Request to Response, on a port. The name that a request uses for this host has to be one that was
 * meant: a page in a browser can make any name lead here, and what stands behind cannot see that any more.
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { sendResponse } from '../guards/http/send-response.js'

export interface ListenOptions {
  readonly host: string
  readonly port: number
  /** Names besides localhost that requests may use for this host. */
  readonly allowedHosts?: readonly string[]
}

export interface Listening {
  readonly url: string
  close(): Promise<void>
}

type Handler = (request: Request) => Promise<Response>

const LOCAL = ['localhost', '127.0.0.1', '[::1]']
const LARGEST_BODY = 16 * 1024 * 1024

export async function listen(
  handler: Handler,
  { host, port, allowedHosts = [] }: ListenOptions,
): Promise<Listening> {
  // As it stands in an address.
  const named = host.includes(':') ? `[${host}]` : host
  const names = new Set([...LOCAL, new URL(`http://${named}`).hostname, ...allowedHosts])
  const server = createServer((incoming, outgoing) => {
    respond(handler, names, incoming, outgoing).catch(() => outgoing.destroy())
  })
  // A stream may be silent for as long as its tool takes.
  server.requestTimeout = 0
  server.listen(port, host)
  await once(server, 'listening')
  const { port: taken } = server.address() as AddressInfo
  return {
    url: `http://${named}:${taken}`,
    close: async () => await stop(server),
  }
}

async function stop(server: Server): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  server.closeAllConnections()
  await closed
}

async function respond(
  handler: Handler,
  names: ReadonlySet<string>,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
) {
  const { host, origin } = incoming.headers
  if (!isNamed(`http://${host}`, names) || (origin !== undefined && !isNamed(origin, names))) {
    outgoing.writeHead(403, { 'content-type': 'text/plain' }).end('this host is not known by that name\n')
    return
  }
  const left = new AbortController()
  outgoing.on('close', () => left.abort())
  const body = await bodyOf(incoming)
  if (body === undefined) {
    outgoing.writeHead(413, { connection: 'close' }).end()
    return
  }
  const headers = new Headers()
  for (const [name, values] of Object.entries(incoming.headersDistinct)) {
    for (const value of values ?? []) headers.append(name, value)
  }
  const { method = 'GET', url = '/' } = incoming
  const hasBody = method !== 'GET' && method !== 'HEAD'
  const response = await handler(
    new Request(`http://${host}${url}`, { method, headers, signal: left.signal, ...(hasBody && { body }) }),
  )
  await sendResponse(outgoing, response)
}

function isNamed(url: string, names: ReadonlySet<string>): boolean {
  return URL.canParse(url) && names.has(new URL(url).hostname)
}

async function bodyOf(incoming: IncomingMessage): Promise<Buffer<ArrayBuffer> | undefined> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > LARGEST_BODY) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
