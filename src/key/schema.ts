/**
 * Identity from a JSON Schema: a property marked `non_idempotent: true` does not count. The payload is followed
 * through the schema, so recursive schemas work. A mark in `allOf` or behind a `$ref` counts; among the branches of
 * `anyOf` and `oneOf` it counts only when every branch that describes the property, `null` aside, carries it:
 * in doubt a field stays in, and two payloads are kept apart.
 */
import { invalidIntent } from '../core/errors.js'
import type { Lens } from './lens.js'
import { emptyNode, readSchema, type SchemaNode } from './schema-node.js'

type Pick = (node: SchemaNode) => SchemaNode | undefined

export function schemaLens(schema: unknown, field: string): Lens {
  const root = readSchema(schema, field)
  if (!isMarked(root)) return lensOf(root)
  throw invalidIntent(
    `${field} is marked non_idempotent as a whole, so that all payloads would be one`,
    'mark the properties that a retry may change, not the whole',
  )
}

const known = new WeakMap<SchemaNode, Lens | boolean>()

function lensOf(node: SchemaNode): Lens {
  return {
    member: (name) => viewOf(step(node, (at) => memberOf(at, name), new Map())),
    item: (index) => viewOf(step(node, (at) => at.prefix[index] ?? at.rest, new Map())),
    leaf: true,
  }
}

function viewOf(node: SchemaNode | undefined): Lens | boolean {
  if (node === undefined) return true
  const found = known.get(node)
  if (found !== undefined) return found
  const view = isMarked(node) ? false : lensOf(node)
  known.set(node, view)
  return view
}

const marks = new WeakMap<SchemaNode, boolean>()

function isMarked(node: SchemaNode): boolean {
  if (node.mark || (node.all.length === 0 && node.any.length === 0)) return node.mark
  const known = marks.get(node)
  if (known !== undefined) return known
  const marked = node.all.some(isMarked) || node.any.some(allMarked)
  marks.set(node, marked)
  return marked
}

function allMarked(branches: readonly SchemaNode[]): boolean {
  const telling = branches.filter((branch) => !branch.isNull)
  return telling.length > 0 && telling.every(isMarked)
}

/**
 * What the schemas that apply at `node` say, taken together, of a member or an item. Branches that lead to the same
 * schema are followed once: in a recursive one each level would else be as many times as large as the last.
 */
function step(
  node: SchemaNode,
  pick: Pick,
  followed: Map<SchemaNode, SchemaNode | undefined>,
): SchemaNode | undefined {
  if (node.all.length === 0 && node.any.length === 0) return pick(node)
  if (followed.has(node)) return followed.get(node)
  const into = (part: SchemaNode): SchemaNode | undefined => step(part, pick, followed)
  const found = present([pick(node), ...node.all.map(into)])
  for (const branches of node.any) found.push(oneOf(present(branches.map(into))))
  const view = together(found)
  followed.set(node, view)
  return view
}

/** A single branch that has branches itself needs no other node around it, which would be one more at each level. */
function oneOf(branches: SchemaNode[]): SchemaNode {
  const [only] = branches
  return branches.length === 1 && only && hasBranches(only) ? only : { ...emptyNode(false), any: [branches] }
}

function hasBranches(node: SchemaNode): boolean {
  return !node.isNull && (node.any.length > 0 || node.all.some(hasBranches))
}

function memberOf(node: SchemaNode, name: string): SchemaNode | undefined {
  if (node.patterns.length === 0) return node.properties.get(name) ?? node.additional
  const matching = node.patterns.filter(([pattern]) => pattern.test(name)).map(([, found]) => found)
  return together(present([node.properties.get(name), ...matching])) ?? node.additional
}

function together(nodes: readonly SchemaNode[]): SchemaNode | undefined {
  return nodes.length <= 1 ? nodes[0] : { ...emptyNode(false), all: [...nodes] }
}

/** Each once: a schema that is there twice says nothing more. */
function present(nodes: readonly (SchemaNode | undefined)[]): SchemaNode[] {
  return [...new Set(nodes.filter((node) => node !== undefined))]
}
