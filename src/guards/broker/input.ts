/**
 * The input of a tool, whatever describes it: a Standard Schema, by its own `~standard` member, or a JSON
 * Schema, compiled once by ajv. Reading it gives a check of arguments that names every field, and a JSON
 * Schema for frameworks and for the marks on ignored fields.
 */
import type { JsonSchema } from '../../key/index.js'
import { type Checked, joinPath } from './field.js'
import { compileJsonSchema } from './json-schema.js'

export interface Input {
  check(args: unknown): Checked | Promise<Checked>
  /** Undefined where the schema cannot say. */
  readonly jsonSchema: JsonSchema | undefined
}

interface StandardIssue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] }

/** The shape that zod, valibot, arktype and others share: standardschema.dev, version 1. */
export interface StandardSchema<Output = unknown> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined
    readonly jsonSchema?: { readonly input: (options: { readonly target: 'draft-2020-12' }) => object }
  }
}

export type InputSchema = StandardSchema | JsonSchema

export type ArgumentsOf<S> = S extends {
  readonly '~standard': { readonly types?: { readonly output: infer Output } | undefined }
}
  ? Output
  : Record<string, unknown>

export function isStandardSchema(schema: unknown): schema is StandardSchema {
  if (schema === null || (typeof schema !== 'object' && typeof schema !== 'function')) return false
  const standard = (schema as Partial<StandardSchema>)['~standard']
  return typeof standard?.validate === 'function'
}

/** Throws INVALID_INTENT where a JSON Schema is none, or ajv is not installed. */
export function readInput(schema: InputSchema, jsonSchema: JsonSchema | undefined): Input {
  if (!isStandardSchema(schema)) {
    return { check: compileJsonSchema(schema), jsonSchema: jsonSchema ?? schema }
  }
  const { validate } = schema['~standard']
  return {
    jsonSchema: jsonSchema ?? jsonSchemaOf(schema),
    check(args) {
      const result = validate(args)
      // A promise of another realm, or of a library's own, is one as well: taken for a result, it would pass anything.
      return 'then' in result ? Promise.resolve(result).then(checked) : checked(result)
    },
  }
}

/** A schema with parts that JSON Schema has no words for (transforms, dates) has none; its vendor throws then. */
export function jsonSchemaOf(schema: InputSchema): JsonSchema | undefined {
  if (!isStandardSchema(schema)) return schema
  try {
    return schema['~standard'].jsonSchema?.input({ target: 'draft-2020-12' }) as JsonSchema | undefined
  } catch {
    return undefined
  }
}

function checked(result: StandardResult<unknown>): Checked {
  if (result.issues === undefined) return { value: result.value }
  return { problems: result.issues.map(({ path = [], message }) => ({ field: fieldOf(path), message })) }
}

function fieldOf(path: NonNullable<StandardIssue['path']>): string {
  return joinPath(path.map((segment) => (typeof segment === 'object' ? segment.key : segment)))
}
