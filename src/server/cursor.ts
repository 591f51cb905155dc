/**
 * Cursors on their way through clients. A store understands only its own, and what it makes of others is its
 * affair: each carries a check sum, so that whatever is no cursor is refused before a store sees it. It is no
 * secret.
 */
import { hash } from 'node:crypto'
import { invalidIntent } from '../core/errors.js'

export function seal(cursor: string | undefined): string | undefined {
  return cursor === undefined ? undefined : `${sumOf(cursor)}.${Buffer.from(cursor).toString('base64url')}`
}

export function unseal(sealed: string | undefined): string | undefined {
  if (sealed === undefined) return undefined
  const at = sealed.indexOf('.')
  const cursor = Buffer.from(sealed.slice(at + 1), 'base64url').toString()
  if (seal(cursor) === sealed) return cursor
  throw invalidIntent(
    'cursor is none that this server gave',
    'give the cursor of the page before as it came, or none',
  )
}

function sumOf(cursor: string): string {
  return hash('sha256', `ibid cursor ${cursor}`).slice(0, 12)
}
