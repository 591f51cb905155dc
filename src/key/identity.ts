/**
 * Which fields of a payload say what is wanted, and which are regenerated on every try: reasons, timestamps, trace
 * ids. Declared in one of three ways. An identity is read once and remembered: do not change it afterwards.
 */
import { invalidIntent } from '../core/errors.js'
import type { Lens } from './lens.js'
import { type Path, pathLens } from './paths.js'
import { schemaLens } from './schema.js'

export type JsonSchema = boolean | { readonly [keyword: string]: unknown }

export type Identity =
  /** Everything counts but what lies at these paths. */
  | { readonly ignore: readonly Path[] }
  /** Only what lies at these paths counts. A payload that has nothing there is refused. */
  | { readonly include: readonly Path[] }
  /** Everything counts but the properties that the schema marks `non_idempotent: true`. */
  | { readonly schema: JsonSchema }

const READERS: Readonly<Record<string, (value: unknown) => Lens>> = {
  ignore: (paths) => pathLens(paths, 'identity.ignore', false),
  include: (paths) => pathLens(paths, 'identity.include', true),
  schema: (schema) => schemaLens(schema, 'identity.schema'),
}

const known = new WeakMap<object, Lens>()

export function readIdentity(identity: Identity): Lens {
  const found = known.get(identity)
  if (found) return found
  const [field, ...more] = typeof identity === 'object' && identity !== null ? Object.keys(identity) : []
  if (field === undefined || more.length > 0 || !Object.hasOwn(READERS, field)) {
    throw invalidIntent(
      `identity has ${field === undefined ? 'no declaration' : [field, ...more].join(', ')}`,
      'give identity exactly one of ignore, include and schema',
    )
  }
  const lens = (READERS[field] as (value: unknown) => Lens)(identity[field as keyof Identity])
  known.set(identity, lens)
  return lens
}
