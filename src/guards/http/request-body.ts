/**
 * The bytes of a request, read before its handler does, and put back for it. Too many are refused before they are
 * read, and a client that goes away while it sends leaves nothing behind: no receipt, no waiting promise.
 */
import type { IncomingMessage } from 'node:http'
import { IbidError } from '../../core/errors.js'
import type { Body } from './exchange.js'

const NONE = new Uint8Array()

/** Does a body follow the head? HTTP says so in one of two ways. */
function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'
}

/** Reads a stream that nobody has read from, and leaves it as it was: whoever comes next reads the same bytes. */
export function readAndPutBack(request: IncomingMessage, maxBytes: number): Uint8Array | Promise<Uint8Array> {
  if (!hasBody(request)) return NONE
  checkLength(Number(request.headers['content-length'] ?? 0), maxBytes)
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let bytes = 0
    function take(): void {
      while (request.readableLength > 0) {
        const chunk = request.read() as Buffer
        bytes += chunk.length
        chunks.push(chunk)
      }
      // 'end' has not been told yet, because nothing was read past the last byte: there is still room in front of it.
      if (bytes > maxBytes) stop(refuse)
      else if (request.complete) stop(() => resolve(putBack(request, chunks)))
    }
    function refuse(): void {
      // What is still to come is let through and forgotten, so that the client gets to read the answer.
      request.resume()
      reject(tooLarge(maxBytes))
    }
    const cut = (): void => stop(() => reject(cutOff()))
    const none = (): void => stop(() => resolve(NONE))
    function stop(then: () => void): void {
      request.off('readable', take).off('end', none).off('close', cut).off('error', cut)
      then()
    }
    request.on('readable', take).on('end', none).on('close', cut).on('error', cut)
    if (request.destroyed) cut()
  })
}

function putBack(request: IncomingMessage, chunks: readonly Buffer[]): Buffer {
  const whole = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)
  if (whole.length > 0) request.unshift(whole)
  return whole
}

/** Sees the bytes go by that a framework reads for itself. Undefined: some have gone by already. */
export function watchBody(request: IncomingMessage): Uint8Array[] | undefined {
  if (request.readableLength > 0 || request.complete || request.readableDidRead) return undefined
  const seen: Uint8Array[] = []
  const { push } = request
  request.push = (chunk: Uint8Array | null, encoding) => {
    if (chunk !== null) seen.push(chunk)
    return push.call(request, chunk, encoding)
  }
  return seen
}

export function joined(seen: readonly Uint8Array[], maxBytes: number): Uint8Array {
  const whole = seen.length === 1 ? (seen[0] as Uint8Array) : Buffer.concat(seen)
  checkLength(whole.length, maxBytes)
  return whole
}

/** For bodies whose bytes are gone: what a parser made of them, where that is all there was in them. */
export function parsedBody(request: IncomingMessage, parsed: unknown): Body {
  if (!hasBody(request)) return NONE
  // Of a form with files a parser leaves only the fields: two uploads would look like one.
  const type = request.headers['content-type'] ?? ''
  if (parsed !== undefined && /\bjson\b|x-www-form-urlencoded/i.test(type)) return { parsed }
  throw alreadyRead()
}

/** The bytes of a Fetch request; the request itself can still be read. */
export async function readClone(request: Request, maxBytes: number): Promise<Uint8Array> {
  if (request.body === null) return NONE
  if (request.bodyUsed) throw alreadyRead()
  checkLength(Number(request.headers.get('content-length') ?? 0), maxBytes)
  return collect(request.clone().body as ReadableStream<Uint8Array>, maxBytes)
}

async function collect(stream: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  try {
    for await (const chunk of stream) {
      bytes += chunk.length
      checkLength(bytes, maxBytes)
      chunks.push(chunk)
    }
  } catch (error) {
    throw error instanceof IbidError ? error : cutOff()
  }
  return Buffer.concat(chunks)
}

export function checkLength(bytes: number, maxBytes: number): void {
  if (bytes > maxBytes) throw tooLarge(maxBytes)
}

function tooLarge(maxBytes: number): IbidError {
  return new IbidError(`the body is longer than ${maxBytes} bytes; nothing was executed`, {
    code: 'TOO_LARGE',
    retriable: false,
    action: `send at most ${maxBytes} bytes, or upload first and refer to the upload`,
  })
}

function cutOff(): IbidError {
  return new IbidError('the request was cut off before its body was complete; nothing was executed', {
    code: 'INVALID_ARGUMENTS',
    retriable: true,
    action: 'send the same request with the same key again',
  })
}

function alreadyRead(): IbidError {
  return new IbidError('the body was read before the idempotency guard saw it; nothing was executed', {
    code: 'UNREADABLE_BODY',
    retriable: false,
    action:
      'put the guard in front of whatever reads the body, or let that keep the bytes (see docs/http.md)',
  })
}
