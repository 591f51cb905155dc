/** Keeps a body while it is sent, up to a cap. Past the cap it only counts: what is kept is all of it or nothing. */

export interface Recorder {
  add(chunk: string | Uint8Array, encoding?: BufferEncoding): void
  /** Undefined past the cap. */
  body(): string | Uint8Array | undefined
  readonly bytes: number
}

export function createRecorder(cap: number): Recorder {
  let chunks: (string | Uint8Array)[] = []
  let bytes = 0
  return {
    add(chunk, encoding) {
      // Half a surrogate pair is sent as a replacement character, and must not find its other half here.
      const plain = typeof chunk === 'string' && isUtf8Name(encoding) && chunk.isWellFormed()
      const piece = typeof chunk === 'string' && !plain ? Buffer.from(chunk, encoding) : chunk
      bytes += typeof piece === 'string' ? Buffer.byteLength(piece) : piece.length
      // A handler may use its buffer again for the next chunk, so bytes are copied.
      if (bytes <= cap) chunks.push(typeof piece === 'string' ? piece : Uint8Array.from(piece))
      else chunks = []
    },
    body() {
      if (bytes > cap) return undefined
      if (chunks.length === 1) return chunks[0]
      if (chunks.every((chunk) => typeof chunk === 'string')) return chunks.join('')
      return Buffer.concat(chunks.map((chunk) => (typeof chunk === 'string' ? Buffer.from(chunk) : chunk)))
    },
    get bytes() {
      return bytes
    },
  }
}

function isUtf8Name(encoding: BufferEncoding | undefined): boolean {
  return encoding === undefined || encoding === null || encoding === 'utf8' || encoding === 'utf-8'
}
