/**
 * The tokens of strict JSON: white space, strings and numbers, each read at a position of a text. What JSON allows
 * but a double or a string cannot hold faithfully is refused here.
 */
import { invalidIntent } from '../core/errors.js'
import { placeOf, type Segment } from './place.js'

export interface Scan {
  readonly text: string
  at: number
  /** Where in the value the scan is. */
  readonly trail: Segment[]
}

const SPACE = /[ \t\n\r]*/y
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const BACKSLASH = 92
const FIRST_PRINTABLE = 32
const INTEGER = /^-?\d+$/
const SIGNIFICANT = /^[-0.]*[1-9]/
/** Every integer of so many characters, sign included, is exact in a double. */
const SURELY_EXACT = 15

export function refuseAt(scan: Scan, what: string, action: string, at = scan.at): never {
  throw invalidIntent(`${placeOf(scan.trail)} ${what}, at position ${at}`, action)
}

export function refuseSyntax(scan: Scan): never {
  const found = scan.at < scan.text.length ? JSON.stringify(scan.text[scan.at]) : 'the end of the text'
  refuseAt(scan, `is not JSON: it has ${found} where JSON cannot have it`, 'send valid JSON')
}

export function skipSpace(scan: Scan): void {
  match(scan, SPACE)
}

/** One character of punctuation, or nothing. */
export function take(scan: Scan, character: string): boolean {
  if (scan.text[scan.at] !== character) return false
  scan.at++
  return true
}

export function takeString(scan: Scan): string {
  const start = scan.at
  if (!take(scan, '"')) refuseSyntax(scan)
  let escaped = false
  for (; scan.text[scan.at] !== '"'; scan.at++) {
    const code = scan.text.charCodeAt(scan.at)
    if (!(code >= FIRST_PRINTABLE)) refuseSyntax(scan)
    if (code !== BACKSLASH) continue
    escaped = true
    scan.at++
  }
  scan.at++
  const text = escaped ? unescape(scan, start) : scan.text.slice(start + 1, scan.at - 1)
  if (text.isWellFormed()) return text
  return refuseAt(scan, 'has half a surrogate pair', 'repair the text: it is not Unicode', start)
}

function unescape(scan: Scan, start: number): string {
  try {
    return JSON.parse(scan.text.slice(start, scan.at)) as string
  } catch {
    return refuseAt(
      scan,
      'is not JSON: a string has an escape that JSON does not know',
      'send valid JSON',
      start,
    )
  }
}

export function takeNumber(scan: Scan): number {
  const start = scan.at
  const token = match(scan, NUMBER)
  if (token === '' || token === '-') refuseSyntax(scan)
  const value = Number(token)
  if (!Number.isFinite(value) || (value === 0 && SIGNIFICANT.test(token))) {
    refuseAt(scan, 'is a number that no double can hold', 'send it as a string', start)
  }
  if (token.length > SURELY_EXACT && INTEGER.test(token) && BigInt(token) !== BigInt(value)) {
    refuseAt(scan, 'is an integer that a double would change', 'send it as a string', start)
  }
  return value
}

function match(scan: Scan, pattern: RegExp): string {
  pattern.lastIndex = scan.at
  const token = pattern.exec(scan.text)?.[0] ?? ''
  scan.at += token.length
  return token
}
