/**
 * Where a body ends. A connection to an origin is used again for somebody else: one byte more than was stated would be
 * the beginning of the next request, and somebody else would get the answer to it. So what is stated comes from how the
 * body is sent, never from a header that was passed on, and a connection on which a body was not taken to its end is
 * not used again.
 */
import type { ClientRequest, IncomingMessage } from 'node:http'
import { isSafe } from '../guards/http/guard.js'

/** The whole of it, or the message of a client, from which it is still coming in. */
export type Body = Uint8Array | IncomingMessage

/** The length that framed the body of a message: name and value, or nothing. */
export function lengthOf({ headers }: IncomingMessage): string[] {
  const length = headers['content-length']
  return length === undefined || headers['transfer-encoding'] !== undefined ? [] : ['content-length', length]
}

/** Name and value; nothing where there is no body, and none is expected. */
export function framingOf(method: string, body: Body): string[] {
  if (body instanceof Uint8Array) return ['content-length', String(body.length)]
  if (body.headers['transfer-encoding'] !== undefined) return ['transfer-encoding', 'chunked']
  const length = lengthOf(body)
  return length.length > 0 || isSafe(method) ? length : ['content-length', '0']
}

/** `request` has to have been opened with the framing of this body. */
export function sendBody(request: ClientRequest, body: Body): void {
  request.once('response', (answer) => {
    if (!request.writableFinished) useNoMore(request, answer)
  })
  if (body instanceof Uint8Array) request.end(body)
  else {
    body.pipe(request)
    // What nobody takes any more would stand in the way of the client's next request.
    request.once('close', () => body.resume())
  }
}

/** An origin that answers before it has the body may take the rest of it for the next request. */
function useNoMore(request: ClientRequest, answer: IncomingMessage): void {
  request.shouldKeepAlive = false
  answer.once('end', () => request.destroy())
}

/** A body that was coded for its way here, other than in chunks, would arrive without a word of how to read it. */
export function isCoded({ headers }: IncomingMessage): boolean {
  const coding = headers['transfer-encoding']
  return coding !== undefined && coding.toLowerCase() !== 'chunked'
}
