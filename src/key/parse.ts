/**
 * JSON, strictly: whatever two readers could understand differently is refused with INVALID_INTENT, by position
 * and by place. That is duplicate member names, also when written with escapes; half surrogate pairs; numbers that a
 * double would change or cannot hold; `__proto__`; more than 128 levels; a byte order mark; bytes that are not UTF-8.
 */
import { invalidIntent } from '../core/errors.js'
import { refuseAt, refuseSyntax, type Scan, skipSpace, take, takeNumber, takeString } from './scan.js'
import { DEEPEST } from './walk.js'

const LITERALS = {
  t: { word: 'true', value: true },
  f: { word: 'false', value: false },
  n: { word: 'null', value: null },
} as const

export function parseStrict(text: string | Uint8Array): unknown {
  const scan: Scan = { text: typeof text === 'string' ? text : decode(text), at: 0, trail: [] }
  if (scan.text.startsWith('\ufeff')) {
    refuseAt(scan, 'starts with a byte order mark', 'send JSON without one, as RFC 8259 asks')
  }
  const value = readValue(scan, 0)
  if (scan.at < scan.text.length) refuseSyntax(scan)
  return value
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw invalidIntent('payload is not UTF-8', 'send JSON as UTF-8')
  }
}

function readValue(scan: Scan, depth: number): unknown {
  skipSpace(scan)
  const value = readBare(scan, depth)
  skipSpace(scan)
  return value
}

function readBare(scan: Scan, depth: number): unknown {
  const first = scan.text[scan.at]
  switch (first) {
    case '{':
      return readObject(scan, depth)
    case '[':
      return readArray(scan, depth)
    case '"':
      return takeString(scan)
    case 't':
    case 'f':
    case 'n':
      return readLiteral(scan, LITERALS[first])
    default:
      return takeNumber(scan)
  }
}

type Literal = (typeof LITERALS)[keyof typeof LITERALS]

function readLiteral(scan: Scan, { word, value }: Literal): boolean | null {
  if (!scan.text.startsWith(word, scan.at)) refuseSyntax(scan)
  scan.at += word.length
  return value
}

function readObject(scan: Scan, depth: number): Record<string, unknown> {
  enter(scan, depth)
  const object: Record<string, unknown> = {}
  skipSpace(scan)
  if (take(scan, '}')) return object
  do {
    skipSpace(scan)
    const name = readName(scan, object)
    skipSpace(scan)
    if (!take(scan, ':')) refuseSyntax(scan)
    scan.trail.push(name)
    object[name] = readValue(scan, depth + 1)
    scan.trail.pop()
  } while (take(scan, ','))
  if (!take(scan, '}')) refuseSyntax(scan)
  return object
}

function readName(scan: Scan, object: Record<string, unknown>): string {
  const start = scan.at
  const name = takeString(scan)
  if (name === '__proto__') {
    refuseAt(
      scan,
      'has a member __proto__',
      'rename it: many readers drop it or take it for a prototype',
      start,
    )
  }
  if (Object.hasOwn(object, name)) {
    scan.trail.push(name)
    refuseAt(scan, 'is there twice', 'send each member once: readers disagree on which one counts', start)
  }
  return name
}

function readArray(scan: Scan, depth: number): unknown[] {
  enter(scan, depth)
  const array: unknown[] = []
  skipSpace(scan)
  if (take(scan, ']')) return array
  do {
    scan.trail.push(array.length)
    array.push(readValue(scan, depth + 1))
    scan.trail.pop()
  } while (take(scan, ','))
  if (!take(scan, ']')) refuseSyntax(scan)
  return array
}

function enter(scan: Scan, depth: number): void {
  if (depth >= DEEPEST) refuseAt(scan, `is nested deeper than ${DEEPEST} levels`, 'send flatter data')
  scan.at++
}
