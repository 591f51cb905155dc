/**
 * Multipart bodies without their boundary. A client that makes its form anew for a retry sends other bytes, because
 * the boundary between the parts is random; the parts are the same. Here they are counted and laid end to end, so
 * that two forms have one text exactly when they have the same parts.
 */
import { hash } from 'node:crypto'

const MULTIPART = /^multipart\/[^;]+;.*?\bboundary=(?:"([^"]{1,200})"|([^\s;"]{1,200}))/is

export interface Form {
  /** The content type, without its boundary. */
  readonly type: string
  /** A line for each part: its length and its digest. */
  readonly parts: string
}

/** Undefined: not multipart, or not a body that the boundary divides. */
export function withoutBoundary(contentType: string, body: Uint8Array): Form | undefined {
  const match = MULTIPART.exec(contentType)
  if (!match) return undefined
  const boundary = match[1] ?? match[2]
  const parts = split(Buffer.from(body.buffer, body.byteOffset, body.byteLength), `--${boundary}`)
  if (parts === undefined) return undefined
  const lines = parts.map((part) => `${part.length}:${hash('sha256', part, 'base64url')}`)
  return { type: contentType.replace(boundary ?? '', ''), parts: lines.join('\n') }
}

function split(body: Buffer, delimiter: string): Buffer[] | undefined {
  // The first delimiter may stand at the very beginning; every other one has a line of its own.
  if (!body.subarray(0, delimiter.length).equals(Buffer.from(delimiter))) return undefined
  const line = Buffer.from(`\r\n${delimiter}`)
  const parts: Buffer[] = []
  let from = delimiter.length
  for (;;) {
    const end = body.subarray(from, from + 2).toString('latin1')
    if (end === '--') return [...parts, body.subarray(from + 2)]
    if (end !== '\r\n') return undefined
    const next = body.indexOf(line, from)
    if (next < 0) return undefined
    parts.push(body.subarray(from + 2, Math.max(next, from + 2)))
    from = next + line.length
  }
}
