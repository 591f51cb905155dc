/** Cursors: small JSON in a text that can stand in a URL. One that is not ours is the caller's mistake. */
import { noCursor } from '../../core/cursor.js'

export function writeCursor(position: object): string {
  return Buffer.from(JSON.stringify(position)).toString('base64url')
}

export function readCursor<T extends object>(
  cursor: string | undefined,
  isOurs: (position: Record<string, unknown>) => boolean,
  start: T,
): T {
  if (cursor === undefined) return start
  try {
    const position = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as Record<string, unknown> | null
    if (typeof position === 'object' && position !== null && isOurs(position)) return position as T
  } catch {
    // Told below.
  }
  throw noCursor()
}
