/** A small JSON service on loopback that can also fail the way real ones do: by silence, or by hanging up. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Asked {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingMessage['headers']
  /** Parsed JSON; undefined where there is no body. */
  readonly body: unknown
}

export type Reply = { readonly status: number; readonly body: unknown } | 'silence' | 'hang-up'

export interface Service {
  readonly url: string
  close(): Promise<void>
}

export async function startService(reply: (asked: Asked) => Reply | Promise<Reply>): Promise<Service> {
  const server = createServer((incoming, outgoing) => {
    answer(reply, incoming, outgoing).catch(() => outgoing.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

async function answer(
  reply: (asked: Asked) => Reply | Promise<Reply>,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const { pathname, searchParams } = new URL(incoming.url ?? '/', 'http://localhost')
  const chunks: Buffer[] = []
  for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk)
  const text = Buffer.concat(chunks).toString()
  const given = await reply({
    method: incoming.method ?? 'GET',
    path: pathname,
    query: searchParams,
    headers: incoming.headers,
    body: text === '' ? undefined : JSON.parse(text),
  })
  if (given === 'silence') return
  if (given === 'hang-up') {
    outgoing.destroy()
    return
  }
  outgoing.writeHead(given.status, { 'content-type': 'application/json' }).end(JSON.stringify(given.body))
}
