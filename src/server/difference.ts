/**
 * What differs between two payloads that came under one key, in words that may be kept: names of top-level fields or
 * of the parts of a request, and lengths. Never a value. A name that does not look like one is counted instead: it
 * may be somebody's data.
 */
import { requestParts } from '../guards/http/request-text.js'

const NAME = /^[A-Za-z_][\w.-]{0,63}$/
const MOST_NAMES = 10

export function difference(first: unknown, second: unknown): string {
  const [a, b] = [partsOf(first), partsOf(second)]
  if (a && b) {
    const names = differing(a, b).map((name) => (name === 'body' ? bodyOf(a[name], b[name]) : name))
    return `differs in ${names.join(', ')}`
  }
  if (isObject(first) && isObject(second)) return `differs in ${named(differing(first, second))}`
  return kindOf(first) === kindOf(second)
    ? `differs in the ${kindOf(first)}`
    : `is ${kindOf(second)}, was ${kindOf(first)}`
}

type Fields = Readonly<Record<string, unknown>>

function partsOf(payload: unknown): Fields | undefined {
  return typeof payload === 'string' ? requestParts(payload) : undefined
}

function differing(first: Fields, second: Fields): readonly string[] {
  const names = new Set([...Object.keys(first), ...Object.keys(second)])
  return [...names].filter((name) => JSON.stringify(first[name]) !== JSON.stringify(second[name]))
}

function bodyOf(first: unknown, second: unknown): string {
  const [a, b] = [jsonOf(first), jsonOf(second)]
  if (isObject(a) && isObject(b)) {
    const names = differing(a, b)
    return names.length === 0 ? 'body (the same fields, written otherwise)' : `body (${named(names)})`
  }
  if (typeof first === 'string' && typeof second === 'string')
    return first.length === second.length
      ? `body (${second.length} bytes, as before)`
      : `body (${second.length} bytes, was ${first.length})`
  return 'body'
}

/** Bytes that are compared as such may be JSON all the same. */
function jsonOf(body: unknown): unknown {
  if (typeof body !== 'string') return body
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

function named(names: readonly string[]): string {
  const shown = names.filter((name) => NAME.test(name)).slice(0, MOST_NAMES)
  const rest = names.length - shown.length
  if (shown.length === 0) return `${rest} of its fields`
  return shown.join(', ') + (rest === 0 ? '' : ` and ${rest} more`)
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'list'
  if (value === null || value === undefined) return 'nothing'
  return typeof value === 'string' ? 'text' : typeof value
}
