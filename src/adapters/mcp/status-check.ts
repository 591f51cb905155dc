/**
 * A status check as data: a tool of the same server that reads, the arguments to ask it with, and how its answer
 * is to be understood. What the data does not say is not guessed: an answer that is neither of the two that were
 * declared has told nothing.
 */
import { invalidIntent } from '../../core/errors.js'
import type { CheckResult } from '../../core/policy.js'
import { fingerprint, type Identity } from '../../key/index.js'
import { isObject, type JsonObject, objectOf, parse, type Reply, resultShowing } from './message.js'

type Plain = string | number | boolean | null

/** Holds where the place that `at` points to (a JSON pointer) is one of `is`, or is a list that is empty or not. */
export type Answered =
  | { readonly at: string; readonly is: Plain | readonly Plain[] }
  | { readonly at: string; readonly empty: boolean }

export interface McpCheck {
  /** A tool of the same server, which must change nothing. */
  readonly tool: string
  /**
   * What it is asked with: `$key` is the key that the call was handed down with, `$args/payment` an argument of the
   * call, by a JSON pointer; anything else stands for itself, and `$$` for a dollar at the beginning of a text.
   */
  readonly arguments: JsonObject
  /** It happened. */
  readonly found: Answered
  /** It certainly did not. */
  readonly absent: Answered
  /** Where in the answer the result of the call is: a JSON pointer. Default: all of it. */
  readonly result?: string
}

/** What is asked about: the key that was handed down, and the arguments that were sent. */
export interface Asked {
  readonly key: string
  readonly args: unknown
}

const FIELDS = new Set(['tool', 'arguments', 'found', 'absent', 'result'])

/** Refuses, at start-up, what is no check or could not be believed. */
export function readCheck(name: string, given: unknown, identity: Identity | undefined): McpCheck {
  const wrong = (what: string, remedy = REMEDY): Error =>
    invalidIntent(`the check of ${JSON.stringify(name)} ${what}`, remedy)
  if (!isObject(given)) throw wrong('is not an object')
  const strange = Object.keys(given).find((field) => !FIELDS.has(field))
  if (strange !== undefined) throw wrong(`has a field ${JSON.stringify(strange)}`)
  const { tool, arguments: args, found, absent, result = '' } = given
  if (typeof tool !== 'string' || tool === '') throw wrong('names no tool')
  if (tool === name) throw wrong('is the tool itself', 'name a tool that reads')
  if (!isObject(args)) throw wrong('has no arguments')
  for (const [field, answered] of Object.entries({ found, absent })) {
    if (!isAnswered(answered)) throw wrong(`does not say what ${field} looks like`)
  }
  if (!isPointer(result)) throw wrong('has a result that is no JSON pointer')
  const taken = placesIn(args)
  if (taken === undefined) {
    throw wrong('takes an argument from nowhere', 'write "$key", "$args/name", or "$$…" for a dollar')
  }
  if (taken.length === 0)
    throw wrong('asks the same of every call', 'take "$key" or "$args/…" into its arguments')
  const loose = taken.find((place) => isLoose(place, identity))
  if (loose) {
    throw wrong(
      `asks by ${JSON.stringify(loose.join('.'))}, which a retry may word anew`,
      'ask by the key, or by arguments that say what is meant',
    )
  }
  return given as unknown as McpCheck
}

const REMEDY =
  'write { tool, arguments: { id: "$key" }, found: { at: "/status", is: "paid" }, absent: { at: "/status", is: "none" } }'

/** Throws where an argument that it needs is not there, or says nothing about the call: then nothing can be asked. */
export function argumentsOf(
  { arguments: given }: McpCheck,
  asked: Asked,
  identity: Identity | undefined,
): JsonObject {
  if (placesIn(given)?.some((place) => isLoose(place, identity))) {
    throw new RangeError('the check asks by an argument that the schema marks as worded anew')
  }
  return fill(given, asked) as JsonObject
}

function fill(given: unknown, asked: Asked): unknown {
  if (Array.isArray(given)) return given.map((one: unknown) => fill(one, asked))
  if (isObject(given)) {
    return Object.fromEntries(Object.entries(given).map(([name, one]) => [name, fill(one, asked)]))
  }
  if (typeof given !== 'string' || !given.startsWith('$')) return given
  if (given.startsWith('$$')) return given.slice(1)
  if (given === KEY) return asked.key
  const value = at(asked.args, given.slice(ARGS.length))
  if (value === undefined) throw new RangeError(`the call has no ${given.slice(1)}`)
  return value
}

/** What the answer of the tool comes to, as the result of the call that was asked about. */
export function resultIn({ found, absent, result }: McpCheck, reply: Reply): CheckResult<JsonObject> {
  const said = 'result' in reply && reply.result['isError'] !== true ? documentOf(reply.result) : undefined
  if (said === undefined) return { found: 'unclear' }
  const [isFound, isAbsent] = [holds(found, said), holds(absent, said)]
  if (isFound === isAbsent) return { found: 'unclear' }
  if (isAbsent) return { found: false }
  const value = at(said, result ?? '')
  if (value === undefined) return { found: 'unclear' }
  return { found: true, value: resultShowing(value) }
}

/** The structured content, or a single text that is JSON. */
function documentOf({ structuredContent, content }: JsonObject): unknown {
  if (structuredContent !== undefined) return structuredContent
  if (!Array.isArray(content) || content.length !== 1) return undefined
  const { text } = objectOf(content[0])
  return typeof text === 'string' ? parse(text) : undefined
}

function holds(answered: Answered, said: unknown): boolean {
  const value = at(said, answered.at)
  if ('empty' in answered) return Array.isArray(value) && (value.length === 0) === answered.empty
  return value !== undefined && [answered.is].flat().includes(value as Plain)
}

function isAnswered(given: unknown): given is Answered {
  if (!isObject(given) || !isPointer(given['at']) || Object.keys(given).length !== 2) return false
  if ('empty' in given) return typeof given['empty'] === 'boolean'
  const values: readonly unknown[] = [given['is']].flat()
  return values.length > 0 && values.every((one) => one === null || PLAIN.has(typeof one))
}

const PLAIN = new Set(['string', 'number', 'boolean'])
const KEY = '$key'
const ARGS = '$args'

/** The places that texts with a dollar name: none of them for the key; undefined where one names nothing. */
function placesIn(given: unknown): readonly (readonly string[])[] | undefined {
  if (typeof given === 'string') {
    if (!given.startsWith('$') || given.startsWith('$$')) return []
    if (given === KEY) return [[]]
    const pointer = given.slice(ARGS.length)
    return given.startsWith(`${ARGS}/`) && isPointer(pointer) ? [stepsOf(pointer)] : undefined
  }
  if (typeof given !== 'object' || given === null) return []
  const found = Object.values(given).map(placesIn)
  return found.includes(undefined) ? undefined : (found.flat() as readonly (readonly string[])[])
}

/** Two calls that differ in nothing but this place: are they one to the identity? */
function isLoose(place: readonly string[], identity: Identity | undefined): boolean {
  if (place.length === 0 || identity === undefined) return false
  const withOnly = (value: unknown): unknown =>
    place.reduceRight((inner, step) => (/^\d+$/.test(step) ? [inner] : { [step]: inner }), value)
  try {
    return fingerprint(withOnly('one'), identity) === fingerprint(withOnly('another'), identity)
  } catch {
    // A list of what counts, of which this is no part.
    return true
  }
}

function isPointer(given: unknown): given is string {
  return typeof given === 'string' && /^(?:\/(?:[^~/]|~[01])*)*$/.test(given)
}

function stepsOf(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
}

function at(value: unknown, pointer: string): unknown {
  let here = value
  for (const step of stepsOf(pointer)) {
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, step)) return undefined
    here = (here as JsonObject)[step]
  }
  return here
}
