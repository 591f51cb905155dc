/** Whether a contract has the shape of one: its fields, their kinds, its schema, its durations. */
import { IbidError } from '../../core/errors.js'
import { type Contract, EFFECTS } from './contract.js'
import { isStandardSchema, readInput } from './input.js'
import type { Finding } from './lint.js'
import { readTerms } from './terms.js'
import { isVersion } from './version.js'

/** Each field of a contract and what it has to be. */
const FIELDS: Readonly<Record<string, (value: unknown) => boolean>> = {
  name: (value) => typeof value === 'string' && /^[A-Za-z][\w.:/-]{0,127}$/.test(value),
  version: isVersion,
  effect: (value) => (EFFECTS as readonly unknown[]).includes(value),
  input: (value) => isStandardSchema(value) || isObject(value),
  inputJsonSchema: isObject,
  title: isText,
  description: isText,
  identity: isObject,
  scope: isText,
  value: (value) => value === 'low' || value === 'high',
  window: isAnything,
  lease: isAnything,
  timeout: isAnything,
  wait: isAnything,
  retry: (value) => hasOnly(value, { attempts: isAttempts, backoff: isAnything, maxBackoff: isAnything }),
  downstream: (value) => hasOnly(value, { acceptsKey: isBoolean, window: isAnything, settles: isAnything }),
  requiresHumanOnRetry: isBoolean,
  resource: (value) => isText(value) || isFunction(value),
  execute: isFunction,
  check: isFunction,
  undo: isFunction,
  classify: isFunction,
  outputFor: isFunction,
}

const REQUIRED = ['name', 'version', 'effect', 'input', 'execute']

const WANTED: Readonly<Record<string, string>> = {
  name: 'a letter, then up to 127 letters, digits, or any of _ . : / -',
  version: 'MAJOR.MINOR.PATCH',
  effect: `one of ${EFFECTS.join(', ')}`,
  input: 'a Standard Schema or a JSON Schema',
  retry: '{ attempts: 1 to 10, backoff, maxBackoff }',
  downstream: '{ acceptsKey: true or false, window, settles }',
  value: "'low' or 'high'",
  requiresHumanOnRetry: 'true or false',
}

export function shapeFindings(contract: Contract): readonly Finding[] {
  if (!isObject(contract)) {
    return [
      finding(
        'NOT_A_CONTRACT',
        'it is not an object',
        'pass an object with name, version, effect, input, execute',
      ),
    ]
  }
  const given = contract as unknown as Readonly<Record<string, unknown>>
  const fields = Object.keys(given).flatMap((field) => problemOf(field, given[field]))
  const missing = REQUIRED.filter((field) => given[field] === undefined).map((field) =>
    finding(
      MISSING[field] ?? 'FIELD_MISSING',
      `it has no ${field}`,
      `add ${field}: ${WANTED[field] ?? 'a function'}`,
    ),
  )
  const found = [...missing, ...fields]
  return found.length > 0 ? found : unreadable(contract)
}

const MISSING: Readonly<Record<string, string>> = { input: 'NO_INPUT_SCHEMA', execute: 'NO_EXECUTE' }

function problemOf(field: string, value: unknown): readonly Finding[] {
  if (value === undefined) return []
  const test = Object.hasOwn(FIELDS, field) ? FIELDS[field] : undefined
  if (!test) {
    // A misspelt promise is one that nobody keeps.
    return [
      finding(
        'UNKNOWN_FIELD',
        `${field} is no field of a contract`,
        `use one of ${Object.keys(FIELDS).join(', ')}`,
      ),
    ]
  }
  if (test(value)) return []
  const code = field === 'effect' ? 'EFFECT_UNKNOWN' : 'FIELD_INVALID'
  return [
    finding(
      code,
      `${field} is not what it has to be`,
      `write ${field} as ${WANTED[field] ?? 'the documentation says'}`,
    ),
  ]
}

/** Durations and schemas say themselves what is wrong with them. */
function unreadable(contract: Contract): readonly Finding[] {
  return [
    ...problemWith('DURATION_INVALID', () => readTerms(contract)),
    ...zeros(contract),
    ...problemWith('INPUT_UNUSABLE', () => readInput(contract.input, undefined)),
  ]
}

function problemWith(code: string, read: () => unknown): readonly Finding[] {
  try {
    read()
    return []
  } catch (error) {
    if (!(error instanceof IbidError)) throw error
    return [finding(code, error.message.replace('; nothing was executed', ''), error.action)]
  }
}

function zeros(contract: Contract): readonly Finding[] {
  return (['window', 'lease', 'timeout'] as const)
    .filter((field) => contract[field] !== undefined && /^0(\.0+)?\D*$/.test(String(contract[field])))
    .map((field) => finding('DURATION_INVALID', `${field} is zero`, `give ${field} a length`))
}

function finding(code: string, message: string, remedy: string): Finding {
  return { level: 'error', code, message, remedy }
}

function hasOnly(value: unknown, fields: Readonly<Record<string, (value: unknown) => boolean>>): boolean {
  if (!isObject(value)) return false
  return Object.entries(value).every(
    ([name, member]) => member === undefined || (Object.hasOwn(fields, name) && fields[name]?.(member)),
  )
}

function isAttempts(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) >= 1 && (value as number) <= 10
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== ''
}

function isBoolean(value: unknown): boolean {
  return typeof value === 'boolean'
}

function isFunction(value: unknown): boolean {
  return typeof value === 'function'
}

function isAnything(): boolean {
  return true
}
