/**
 * Arguments checked by JSON Schema. ajv does it: it is an optional peer, loaded when the first tool needs it,
 * and a schema is compiled once. Draft 2020-12, or draft 7 where `$schema` says so.
 */
import { createRequire } from 'node:module'
import { invalidIntent } from '../../core/errors.js'
import type { JsonSchema } from '../../key/index.js'
import { type Checked, type FieldProblem, joinPath } from './field.js'

interface AjvError {
  readonly instancePath: string
  readonly keyword: string
  readonly message?: string
  readonly params: Readonly<Record<string, unknown>>
}

interface Compiled {
  (value: unknown): boolean
  errors?: readonly AjvError[] | null
}

interface Ajv {
  compile(schema: JsonSchema): Compiled
  removeSchema(schema: JsonSchema): unknown
}

type MakeAjv = new (options: object) => Ajv

const load = createRequire(import.meta.url)
const made = new Map<string, Ajv>()
/** A model mends what it is told about; more than this is noise in its context. */
const MOST_PROBLEMS = 10

export function compileJsonSchema(schema: JsonSchema): (args: unknown) => Checked {
  const test = compile(schema)
  return (args) => (test(args) ? { value: args } : { problems: problemsOf(test.errors ?? []) })
}

function compile(schema: JsonSchema): Compiled {
  const draft7 =
    typeof schema === 'object' && /draft-0[67]/.test(String((schema as { $schema?: unknown }).$schema))
  let ajv: Ajv | undefined
  try {
    ajv = ajvFor(draft7 ? 'ajv' : 'ajv/dist/2020.js')
    return ajv.compile(schema)
  } catch (error) {
    // Otherwise it remembers the schema, and says something else about it the next time.
    ajv?.removeSchema(schema)
    throw invalidIntent(
      `the input schema cannot be used: ${error instanceof Error ? error.message : String(error)}`,
      'pass a JSON Schema of draft 2020-12 or draft 7, or any Standard Schema; JSON Schema needs the package ajv',
    )
  }
}

function ajvFor(module: string): Ajv {
  const found = made.get(module)
  if (found) return found
  const { default: Make } = load(module) as { default: MakeAjv }
  // Not strict: schemas come from elsewhere, and carry keywords such as our own mark.
  // Nor kept by their $id: two tools may have schemas of one name.
  const ajv = new Make({ strict: false, allErrors: true, addUsedSchema: false, logger: false })
  addFormats(ajv)
  made.set(module, ajv)
  return ajv
}

/** Without ajv-formats, `format` is a note for readers, as the standard allows. */
function addFormats(ajv: Ajv): void {
  try {
    const { default: add } = load('ajv-formats') as { default: (ajv: Ajv) => void }
    add(ajv)
  } catch {
    // Not installed.
  }
}

function problemsOf(errors: readonly AjvError[]): FieldProblem[] {
  return errors.slice(0, MOST_PROBLEMS).map(({ instancePath, params, message = 'is not valid' }) => {
    const path = instancePath.split('/').slice(1).map(unescape)
    const named = params['missingProperty'] ?? params['additionalProperty'] ?? params['unevaluatedProperty']
    const segments = typeof named === 'string' ? [...path, named] : path
    return { field: joinPath(segments), message: wordsOf(params, message) }
  })
}

function wordsOf(params: AjvError['params'], message: string): string {
  if ('missingProperty' in params) return 'is missing'
  if ('additionalProperty' in params || 'unevaluatedProperty' in params)
    return 'is not an argument of this tool'
  const allowed = params['allowedValues']
  return Array.isArray(allowed)
    ? `${message}: ${allowed.map((one) => JSON.stringify(one)).join(', ')}`
    : message
}

function unescape(segment: string): string {
  return segment.replaceAll('~1', '/').replaceAll('~0', '~')
}
