/**
 * The key as a request carries it: in `Idempotency-Key`, as an RFC 8941 string or as the bare token that most
 * clients send, in `X-Idempotency-Key`, or in a query parameter that was named for it. Places that disagree, a value
 * that is neither form, and a header sent twice are refused: to guess would be to choose between two actions.
 */
import { type IbidError, invalidIntent } from '../../core/errors.js'

/** Visible ASCII but quote, comma and semicolon: two headers joined by a comma are not one key. */
const BARE = /^[!#-+\--:<-~]+$/
/** RFC 8941, 3.3.3, and parameters behind it, which mean nothing here. A comma is where a second header begins. */
const QUOTED = /^"((?:[ !#-[\]-~]|\\["\\])*)"(?:\s*;[\s!#-+\--~]*)?$/
/** The way of most: quoted, and nothing in it that has to be read twice. */
const SIMPLE = /^"[ !#-[\]-~]{1,255}"$/
const LONGEST = 255

export interface KeyPlaces {
  /** Lower case. */
  readonly headers: readonly string[]
  readonly parameter: string | undefined
}

interface Carrier {
  readonly query: string
  header(name: string): string | undefined
}

/** Undefined: the request carries none. Throws INVALID_INTENT where what it carries is no key. */
export function readKey(carrier: Carrier, places: KeyPlaces): string | undefined {
  let key: string | undefined
  for (const name of places.headers) {
    const value = carrier.header(name)
    if (value !== undefined) key = agreed(key, parseHeader(value, name), name)
  }
  if (places.parameter === undefined || carrier.query === '') return key
  for (const value of new URLSearchParams(carrier.query).getAll(places.parameter)) {
    key = agreed(key, fitting(value, places.parameter), places.parameter)
  }
  return key
}

function parseHeader(value: string, name: string): string {
  if (SIMPLE.test(value)) return value.slice(1, -1)
  const text = value.trim()
  if (BARE.test(text)) return fitting(text, name)
  const quoted = QUOTED.exec(text)
  if (quoted) return fitting((quoted[1] as string).replaceAll(/\\(["\\])/g, '$1'), name)
  throw invalidIntent(
    `${name} is malformed`,
    `send ${name} once, as a quoted string of visible ASCII characters: "8e03978e-40d5-43dd-bc93-6894a57f9324"`,
  )
}

function fitting(key: string, name: string): string {
  if (key.length > 0 && key.length <= LONGEST) return key
  throw invalidIntent(
    `the key in ${name} has ${key.length} characters`,
    `send a key of 1 to ${LONGEST} characters in ${name}`,
  )
}

function agreed(before: string | undefined, key: string, name: string): string {
  if (before === undefined || before === key) return key
  throw invalidIntent(
    'the request carries two different keys',
    `send one key only, and not another in ${name}`,
  )
}

export function missingKey({ headers, parameter }: KeyPlaces): IbidError {
  const places = [...headers, ...(parameter === undefined ? [] : [`the query parameter ${parameter}`])]
  return invalidIntent(
    'the idempotency key is missing',
    `make a key once for this action, keep it for every retry, and send it in ${places.join(' or ')}`,
  )
}
