/**
 * What a model sends is data. Arguments that look like keys, tenants or ids of runs are not used as such;
 * where the tool's schema does not ask for them they are taken out before anything else is done, so that they
 * change nothing.
 */
import type { JsonSchema } from '../../key/index.js'

/** Never an argument: a schema that asks a model for one is refused by the lint. */
const KEYS = /^_*(?:x[-_]?)?idempotency(?:[-_]?(?:key|token|id))?$|^_meta$/i
/** Taken out where the schema does not declare them. */
const PLACES = new Set(
  [
    'tenant',
    'tenantId',
    'runId',
    'stepId',
    'toolCallId',
    'hostKey',
    'principal',
    'ordinal',
    'scopes',
  ].flatMap((name) => [name, name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)]),
)

export function looksLikeKey(name: string): boolean {
  return KEYS.test(name)
}

/** `declared`: the argument names of the schema; undefined where it cannot say. */
export function withoutPretence(args: unknown, declared: ReadonlySet<string> | undefined): unknown {
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return args
  const pretending = Object.keys(args).filter((name) => !declared?.has(name) && pretends(name, declared))
  if (pretending.length === 0) return args
  return Object.fromEntries(Object.entries(args).filter(([name]) => !pretending.includes(name)))
}

function pretends(name: string, declared: ReadonlySet<string> | undefined): boolean {
  return looksLikeKey(name) || (PLACES.has(name) && declared !== undefined)
}

/** The names that a schema's own object declares. Undefined: it is composed of others, or not of objects. */
export function declaredNames(schema: JsonSchema | undefined): ReadonlySet<string> | undefined {
  if (typeof schema !== 'object') return undefined
  const composed = ['$ref', 'allOf', 'anyOf', 'oneOf', 'if', 'patternProperties'].some(
    (word) => word in schema,
  )
  const { properties } = schema
  if (composed || typeof properties !== 'object' || properties === null) return undefined
  return new Set(Object.keys(properties))
}
