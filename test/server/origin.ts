/** A server of somebody else, that writes down what reaches it and answers as it is told. */
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'

export interface Seen {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export interface Origin {
  readonly url: string
  readonly seen: readonly Seen[]
  close(): Promise<void>
}

type Answer = (request: Seen, response: ServerResponse, number: number) => void

export async function openOrigin(
  answer: Answer = (_request, response, number) => response.writeHead(201).end(`done ${number}`),
  port = 0,
): Promise<Origin> {
  const seen: Seen[] = []
  const server = createServer((incoming: IncomingMessage, response) => {
    const take = (body: string): void => {
      const { method = '', url = '', headers } = incoming
      seen.push({ method, url, headers, body })
      answer(seen.at(-1) as Seen, response, seen.length)
    }
    // One that was cut off was never asked.
    text(incoming).then(take, () => response.destroy())
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const close = async (): Promise<void> => {
    server.closeAllConnections()
    if (!server.listening) return
    server.close()
    await once(server, 'close')
  }
  onTestFinished(close)
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen, close }
}

/** An address where nobody listens. */
export async function nobody(): Promise<string> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return `http://127.0.0.1:${port}`
}
