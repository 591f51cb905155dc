/**
 * Where the canonical writer is in a payload, and how it refuses what it finds there: INVALID_INTENT, with the
 * place by name. `trail` and `open` are not cleared on the way back up; the depth says how much of them is true.
 */
import { invalidIntent } from '../core/errors.js'
import { placeOf, type Segment } from './place.js'

export const DEEPEST = 128

export interface Walk {
  /** The largest magnitude that a number may have. */
  readonly largest: number
  readonly trail: Segment[]
  readonly open: object[]
  /** How many members and items counted whole. */
  counted: number
}

export function startWalk(largest: number): Walk {
  return { largest, trail: [], open: [], counted: 0 }
}

export function refuse(what: string, action: string, depth: number, walk: Walk): never {
  throw invalidIntent(`${placeOf(walk.trail.slice(0, depth))} ${what}`, action)
}

export function refuseNumber(value: number, depth: number, walk: Walk): never {
  if (Number.isFinite(value)) {
    refuse(
      `is ${value}, past the integers that a double tells apart`,
      'pass a number beyond ±9007199254740991 as a string or a bigint, from where it is first read',
      depth,
      walk,
    )
  }
  refuse(`is ${value}, which JSON does not have`, 'pass a finite number, null, or a string', depth, walk)
}

export function refuseText(what: string, depth: number, walk: Walk): never {
  refuse(what, 'repair the text, or pass the bytes as a Uint8Array', depth, walk)
}

/** A cycle is only looked for here: it always leads here, straight down. */
export function refuseDepth(value: object, walk: Walk): never {
  const open = [...walk.open.slice(0, DEEPEST), value]
  const again = open.findIndex((object, depth) => open.indexOf(object) < depth)
  if (again === -1) refuse(`is nested deeper than ${DEEPEST} levels`, 'pass flatter data', DEEPEST, walk)
  refuse('contains itself', 'pass data without cycles', again, walk)
}
