/**
 * A JSON Schema read once into what identity needs of it: where its members and items are described, which
 * schemas apply together, which are alternatives, and the marks. `$ref` is followed inside the document only.
 */
import { invalidIntent } from '../core/errors.js'

export interface SchemaNode {
  readonly mark: boolean
  readonly isNull: boolean
  readonly properties: Map<string, SchemaNode>
  readonly patterns: (readonly [RegExp, SchemaNode])[]
  additional?: SchemaNode | undefined
  readonly prefix: SchemaNode[]
  rest?: SchemaNode | undefined
  /** Apply together with this one: `allOf`, `$ref`. */
  readonly all: SchemaNode[]
  /** Sets of alternatives: `anyOf`, `oneOf`, `then` and `else`. */
  readonly any: SchemaNode[][]
}

type Json = Readonly<Record<string, unknown>>

export function emptyNode(mark: boolean, isNull = false): SchemaNode {
  return { mark, isNull, properties: new Map(), patterns: [], prefix: [], all: [], any: [] }
}

/** The schema's root, checked to be free of references that never end. */
export function readSchema(root: unknown, field: string): SchemaNode {
  const known = new Map<object, SchemaNode>()

  function read(schema: unknown, at: string): SchemaNode | undefined {
    if (typeof schema === 'boolean') return undefined
    const json = objectAt(schema, at)
    const found = known.get(json)
    if (found) return found
    const node = emptyNode(readMark(json, at), json['type'] === 'null')
    known.set(json, node)
    readMembers(json, node, at)
    readItems(json, node, at)
    node.all.push(...readList(json, 'allOf', at))
    if (json['$ref'] !== undefined) node.all.push(...present([read(target(json['$ref'], at), `${at}.$ref`)]))
    const cases = present([readOptional(json, 'then', at), readOptional(json, 'else', at)])
    const sets = [readList(json, 'anyOf', at), readList(json, 'oneOf', at), cases]
    node.any.push(...sets.filter((branches) => branches.length > 0))
    return node
  }

  function readOptional(json: Json, keyword: string, at: string): SchemaNode | undefined {
    return json[keyword] === undefined ? undefined : read(json[keyword], `${at}.${keyword}`)
  }

  function readList(json: Json, keyword: string, at: string): SchemaNode[] {
    return present(
      listAt(json[keyword], `${at}.${keyword}`).map((schema, i) => read(schema, `${at}.${keyword}[${i}]`)),
    )
  }

  function readMembers(json: Json, node: SchemaNode, at: string): void {
    for (const [name, schema] of entriesAt(json['properties'], `${at}.properties`)) {
      node.properties.set(name, read(schema, `${at}.properties.${name}`) ?? emptyNode(false))
    }
    for (const [pattern, schema] of entriesAt(json['patternProperties'], `${at}.patternProperties`)) {
      const where = `${at}.patternProperties.${pattern}`
      node.patterns.push([regExpAt(pattern, where), read(schema, where) ?? emptyNode(false)])
    }
    node.additional = readOptional(json, 'additionalProperties', at)
  }

  function readItems(json: Json, node: SchemaNode, at: string): void {
    const listed = Array.isArray(json['items'])
    const keyword = listed ? 'items' : 'prefixItems'
    const prefix = listAt(json[keyword], `${at}.${keyword}`)
    // A place that may hold anything is described: the rest of the list does not speak of it.
    node.prefix.push(...prefix.map((schema, i) => read(schema, `${at}.${keyword}[${i}]`) ?? emptyNode(false)))
    node.rest = readOptional(json, listed ? 'additionalItems' : 'items', at)
  }

  function target(ref: unknown, at: string): unknown {
    const path =
      typeof ref === 'string' && /^#(?:\/|$)/.test(ref) ? ref.slice(1).split('/').slice(1) : undefined
    let found: unknown = path === undefined ? undefined : root
    for (const segment of path ?? []) {
      const name = unescapePointer(segment)
      found =
        typeof found === 'object' && found !== null && Object.hasOwn(found, name)
          ? (found as Json)[name]
          : undefined
    }
    if (found !== undefined) return found
    throw malformed(`${at}.$ref`, 'leads nowhere in this schema', "use references like '#/$defs/Name'")
  }

  const node = read(root, field) ?? emptyNode(false)
  refuseLoops(known.values(), field)
  return node
}

/** A schema that applies to the same value over and over has no meaning, and no end. */
function refuseLoops(nodes: Iterable<SchemaNode>, field: string): void {
  const done = new Set<SchemaNode>()
  const open = new Set<SchemaNode>()
  const visit = (node: SchemaNode): void => {
    if (open.has(node))
      throw malformed(field, 'refers to itself without end', 'take the loop of $ref out of the schema')
    if (done.has(node)) return
    done.add(node)
    open.add(node)
    for (const part of [...node.all, ...node.any.flat()]) visit(part)
    open.delete(node)
  }
  for (const node of nodes) visit(node)
}

function readMark(json: Json, at: string): boolean {
  const mark = json['non_idempotent']
  if (mark === undefined || typeof mark === 'boolean') return mark === true
  throw malformed(`${at}.non_idempotent`, 'is not true or false', 'write non_idempotent: true')
}

function objectAt(value: unknown, at: string): Json {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Json
  throw malformed(at, 'is not an object', 'pass a JSON Schema')
}

function entriesAt(value: unknown, at: string): [string, unknown][] {
  return value === undefined ? [] : Object.entries(objectAt(value, at))
}

function listAt(value: unknown, at: string): readonly unknown[] {
  if (value === undefined) return []
  if (Array.isArray(value)) return value as unknown[]
  throw malformed(at, 'is not a list of schemas', 'pass a JSON Schema')
}

function regExpAt(pattern: string, at: string): RegExp {
  try {
    return new RegExp(pattern, 'u')
  } catch {
    throw malformed(at, 'is not a regular expression', 'pass a JSON Schema')
  }
}

function unescapePointer(segment: string): string {
  try {
    return decodeURIComponent(segment).replaceAll('~1', '/').replaceAll('~0', '~')
  } catch {
    return segment
  }
}

function present(nodes: readonly (SchemaNode | undefined)[]): SchemaNode[] {
  return nodes.filter((node) => node !== undefined)
}

function malformed(at: string, what: string, action: string): Error {
  return invalidIntent(`${at} ${what}`, action)
}
