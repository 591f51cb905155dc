/** The body of a message as something to compare: bytes by their digest, anything else by its canonical form. */
import { hash } from 'node:crypto'

export function digestOfBytes(body: unknown): unknown {
  if (!(body instanceof Uint8Array)) return body
  return { sha256: hash('sha256', body, 'base64url') }
}
