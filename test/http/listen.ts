/** A server in this process, for as long as a test runs, and what would have ended the process. */
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

export async function listen(
  listener: RequestListener,
): Promise<{ readonly port: number; readonly server: Server }> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close().closeAllConnections()
  })
  return { port: (server.address() as AddressInfo).port, server }
}

/** What nobody caught since: outside of a test it would have ended the process. */
export function unhandled(): unknown[] {
  const lost: unknown[] = []
  const take = (error: unknown): unknown => lost.push(error)
  process.on('unhandledRejection', take)
  onTestFinished(() => {
    process.off('unhandledRejection', take)
  })
  return lost
}
