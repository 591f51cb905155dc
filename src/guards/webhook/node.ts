/**
 * A webhook for servers that speak node:http: plain ones, Express, Fastify. The bytes go from the socket to the
 * signature as they came; where a body parser was there first, only one that kept them is good enough.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { alreadyRead } from './body.js'
import type { Webhook } from './webhook.js'

type Incoming = IncomingMessage & { readonly originalUrl?: string; readonly body?: unknown }

export function nodeHandler(hook: Webhook): (request: Incoming, response: ServerResponse) => void {
  return (incoming, outgoing) => {
    // The webhook answers whatever happens to it; what can fail is a `respond` that gave something unsendable.
    reply(hook, incoming, outgoing).catch((error: unknown) => outgoing.destroy(error as Error))
  }
}

async function reply(hook: Webhook, incoming: Incoming, outgoing: ServerResponse): Promise<void> {
  const answer = await hook(toRequest(incoming))
  const body = Buffer.from(await answer.arrayBuffer())
  outgoing.writeHead(answer.status, [...answer.headers].flat())
  outgoing.end(body)
}

function toRequest(incoming: Incoming): Request {
  const url = urlOf(incoming.originalUrl ?? incoming.url ?? '/')
  // Whatever is not POST is refused by its method alone; some methods a Request cannot even have.
  if (incoming.method !== 'POST') return new Request(url)
  const init = {
    method: 'POST',
    headers: headersOf(incoming),
    body: bytesOf(incoming),
    duplex: 'half',
  } as const
  return new Request(url, init)
}

/** What a client put into the request line is not always a URL. The host that it claims is left out. */
function urlOf(path: string): string {
  const base = 'http://localhost'
  return URL.canParse(path, base) ? new URL(path, base).href : base
}

function headersOf({ rawHeaders }: Incoming): Headers {
  const headers = new Headers()
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    try {
      headers.append(rawHeaders[i] as string, rawHeaders[i + 1] as string)
    } catch {
      // HTTP/2's pseudo-headers, and what Fetch does not take for a header: no vendor signs with those.
    }
  }
  return headers
}

function bytesOf(incoming: Incoming): ReadableStream | Uint8Array {
  if (incoming.body instanceof Uint8Array) return incoming.body
  if (incoming.readableDidRead) {
    return new ReadableStream({ start: (controller) => controller.error(alreadyRead()) })
  }
  // Not Readable.toWeb: giving up on that destroys the socket, and with it the answer.
  const pieces = incoming.iterator({ destroyOnReturn: false })
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = (await pieces.next()) as IteratorResult<Uint8Array, undefined>
      if (done) controller.close()
      else controller.enqueue(value)
    },
    async cancel() {
      await pieces.return?.()
    },
  })
}
