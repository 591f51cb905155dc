/**
 * Which response headers a receipt keeps. A list of what is safe, and never more: a replay may go to another
 * connection, another day, so credentials and whatever belongs to one connection stay out, even when asked for.
 */
import type { OutgoingHttpHeader, OutgoingHttpHeaders } from 'node:http'
import { invalidIntent } from '../../core/errors.js'
import { OF_THE_CONNECTION } from './connection-headers.js'

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
  ...OF_THE_CONNECTION,
  'authorization',
  'cookie',
  'date',
  'set-cookie',
  'set-cookie2',
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

/** As `writeHead` takes them: by name, or name, value, name, value, or in pairs. */
export type GivenHeaders = OutgoingHttpHeaders | OutgoingHttpHeader[] | readonly string[]
export type HeaderSource = GivenHeaders | Headers

/** Name, value, name, value: what may be kept of these. A later source counts before an earlier one. */
export function keepHeaders(sources: readonly HeaderSource[], allowed: ReadonlySet<string>): string[] {
  let kept: string[] = []
  for (const source of sources) {
    // One source may name a header twice, and means both.
    const own: string[] = []
    eachHeader(source, (given, value) => {
      const name = given.toLowerCase()
      if (!allowed.has(name) || value === undefined) return
      for (const one of Array.isArray(value) ? value : [value]) own.push(name, `${one}`)
    })
    kept = kept.length === 0 ? own : [...notIn(own, kept), ...own]
  }
  return kept
}

function notIn(later: readonly string[], earlier: readonly string[]): string[] {
  const left: string[] = []
  for (let i = 0; i < earlier.length; i += 2) {
    if (!isNamed(later, earlier[i])) left.push(earlier[i] as string, earlier[i + 1] as string)
  }
  return left
}

/** Is there a header of this name before `end`? A value may well be a name: `vary: etag`. */
export function isNamed(headers: readonly string[], name: string | undefined, end = headers.length): boolean {
  for (let i = 0; i < end; i += 2) if (headers[i] === name) return true
  return false
}

/** A handler that echoes what its client sent must not make a first answer look like a replay. */
export function withoutReplayed(headers: GivenHeaders): GivenHeaders {
  let isThere = false
  const others: string[] = []
  eachHeader(headers, (name, value) => {
    if (name.toLowerCase() === REPLAYED) isThere = true
    else others.push(name, value as string)
  })
  return isThere ? others : headers
}

export function eachHeader(headers: HeaderSource, tell: (name: string, value: unknown) => void): void {
  if (headers instanceof Headers) headers.forEach((value, name) => tell(name, value))
  else if (!Array.isArray(headers))
    for (const name of Object.keys(headers)) tell(name, headers[name as keyof object])
  else if (Array.isArray(headers[0]))
    for (const [name, value] of headers as [string, unknown][]) tell(name, value)
  else for (let i = 0; i < headers.length; i += 2) tell(String(headers[i]), headers[i + 1])
}
