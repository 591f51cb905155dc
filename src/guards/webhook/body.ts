/** The raw bytes of a request, within a size and a time. They are never parsed and written again on the way. */
import { IbidError } from '../../core/errors.js'

/** The bytes, or what is wrong with them, in the words of the answer. */
export type Body = Uint8Array | 'BODY_TOO_LARGE' | 'BODY_TIMEOUT' | 'BODY_BROKEN_OFF'

export async function readBody(request: Request, maxBytes: number, maxMs: number): Promise<Body> {
  if (request.bodyUsed) throw alreadyRead()
  if (Number(request.headers.get('content-length')) > maxBytes) return 'BODY_TOO_LARGE'
  if (request.body === null) return new Uint8Array()
  const reader = (request.body as ReadableStream<Uint8Array>).getReader()
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(() => resolve('late'), maxMs)
  })
  // Also where the body says by itself that somebody has read it: no timer outlives what it was for.
  const read = collect(() => Promise.race([reader.read(), late]), maxBytes)
  const body = await read.finally(() => clearTimeout(timer))
  // Whoever sends too much or too slowly is not listened to any longer; that may fail, and is not waited for.
  if (typeof body === 'string') void reader.cancel().catch(() => undefined)
  return body
}

type Piece = 'late' | { readonly done: boolean; readonly value?: Uint8Array | undefined }

async function collect(next: () => Promise<Piece>, maxBytes: number): Promise<Body> {
  const pieces: Uint8Array[] = []
  let size = 0
  for (;;) {
    let piece: Piece
    try {
      piece = await next()
    } catch (error) {
      if (error instanceof IbidError) throw error
      return 'BODY_BROKEN_OFF'
    }
    if (piece === 'late') return 'BODY_TIMEOUT'
    if (piece.done || piece.value === undefined) return Buffer.concat(pieces)
    if (!(piece.value instanceof Uint8Array)) return 'BODY_BROKEN_OFF'
    size += piece.value.byteLength
    if (size > maxBytes) return 'BODY_TOO_LARGE'
    pieces.push(piece.value)
  }
}

// A decoder that repairs would let two bodies pass under one signature: nothing is replaced, no mark is cut off.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Undefined when the bytes are not UTF-8: otherwise the text stands for these bytes and no others. */
export function exactText(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes)
  } catch {
    return undefined
  }
}

export function alreadyRead(): IbidError {
  return new IbidError('somebody read the body before the webhook could; the delivery was not handled', {
    code: 'BODY_ALREADY_READ',
    retriable: true,
    action:
      'mount the webhook before any body parser, or with one that keeps the raw bytes: see docs/webhook.md',
  })
}
