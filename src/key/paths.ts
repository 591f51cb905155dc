/**
 * Paths into a payload, as an identity names them: 'a.b', 'items.*.note', or a list of segments for names that
 * hold dots. A star stands for every member or item. A list of paths becomes one lens without overlaps.
 */
import { invalidIntent } from '../core/errors.js'
import type { Lens } from './lens.js'

export type Path = string | readonly string[]

const MOST_PATHS = 1_000

/** What lies at the paths counts, or counts not; everything else the other way round. */
export function pathLens(paths: unknown, field: string, counts: boolean): Lens {
  if (!Array.isArray(paths) || paths.length > MOST_PATHS) {
    throw invalidIntent(
      `${field} is not a list of up to ${MOST_PATHS} paths`,
      `write ${field}: ['reason', 'items.*.note']`,
    )
  }
  return build(
    paths.map((path, i) => readPath(path, `${field}[${i}]`)),
    counts,
  )
}

function readPath(path: unknown, field: string): readonly string[] {
  const segments: unknown = typeof path === 'string' ? path.split('.') : path
  if (
    Array.isArray(segments) &&
    segments.length > 0 &&
    segments.every((s) => typeof s === 'string' && s !== '')
  ) {
    return segments as string[]
  }
  throw invalidIntent(
    `${field} is not a path`,
    "write a path as 'a.b', as 'items.*.note', or as a list of names where a name holds a dot: ['a.b', 'c']",
  )
}

function build(paths: readonly (readonly string[])[], counts: boolean): Lens {
  const starred = paths.filter(([head]) => head === '*').map((path) => path.slice(1))
  const others = starred.length === 0 ? !counts : next(starred, counts)
  const named = new Map<string, Lens | boolean>()
  for (const [head] of paths) {
    if (head === '*' || head === undefined || named.has(head)) continue
    const tails = paths.filter((path) => path[0] === head).map((path) => path.slice(1))
    named.set(head, next([...tails, ...starred], counts))
  }
  const member = (name: string): Lens | boolean => named.get(name) ?? others
  return { member, item: (index) => member(String(index)), leaf: !counts }
}

function next(paths: readonly (readonly string[])[], counts: boolean): Lens | boolean {
  return paths.some((path) => path.length === 0) ? counts : build(paths, counts)
}
