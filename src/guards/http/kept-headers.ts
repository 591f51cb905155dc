/**
 * Which response headers a receipt keeps. A list of what is safe, and never more: a replay may go to another
 * connection, another day, so credentials and whatever belongs to one connection stay out, even when asked for.
 */
import { invalidIntent } from '../../core/errors.js'

export const REPLAYED = 'idempotency-replayed'

const USUAL = [
  'allow',
  'cache-control',
  'content-disposition',
  'content-encoding',
  'content-language',
  'content-location',
  'content-type',
  'deprecation',
  'etag',
  'expires',
  'last-modified',
  'link',
  'location',
  'retry-after',
  'sunset',
  'vary',
]

const NEVER: ReadonlySet<string> = new Set([
  'authorization',
  'connection',
  'content-length',
  'cookie',
  'date',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'set-cookie',
  'set-cookie2',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'www-authenticate',
  REPLAYED,
])

export function readAllowed(more: readonly string[] = []): ReadonlySet<string> {
  const names = more.map((name) => name.toLowerCase())
  const refused = names.find((name) => NEVER.has(name))
  if (refused !== undefined) {
    throw invalidIntent(`headers names ${refused}, which is never kept`, 'take it out of the list')
  }
  return new Set([...USUAL, ...names])
}

/** Name, value, name, value: those of `headers` that may be kept. */
export function keepHeaders(
  headers: Iterable<readonly [string, unknown]>,
  allowed: ReadonlySet<string>,
): string[] {
  const kept: string[] = []
  for (const [given, value] of headers) {
    const name = given.toLowerCase()
    if (!allowed.has(name) || value === undefined) continue
    if (!Array.isArray(value)) kept.push(name, String(value))
    else for (const one of value) kept.push(name, String(one))
  }
  return kept
}
