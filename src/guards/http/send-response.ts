/** A Response of the Fetch standard, sent as it comes. */
import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

export async function sendResponse(outgoing: ServerResponse, response: Response): Promise<void> {
  // One by one: there may be several cookies to set.
  outgoing.writeHead(response.status, [...response.headers].flat())
  outgoing.flushHeaders()
  if (response.body) await pipeline(Readable.fromWeb(response.body as never), outgoing)
  else outgoing.end()
}
