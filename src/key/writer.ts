/**
 * The walk that writes canonical text. It is on the path of every replay: what JSON can carry is written at
 * once, everything else goes to the slower functions further down.
 */
import { types } from 'node:util'
import { IbidError, invalidIntent } from '../core/errors.js'
import { type Kind, kindOf } from './kind.js'
import type { Lens } from './lens.js'
import { firstLead, nextLead, sortNames } from './names.js'
import { DEEPEST, refuse, refuseDepth, refuseNumber, refuseText, type Walk } from './walk.js'

const UNDEFINED = '{"$ibid":"undefined"}'
// oxlint-disable-next-line no-control-regex
const NEEDS_ESCAPE = /[\u0000-\u001f"\\\ud800-\udfff]/

export function writeText(value: unknown, lens: Lens | undefined, walk: Walk): string {
  try {
    return write(value, 0, lens, walk)
  } catch (error) {
    if (error instanceof IbidError) throw error
    const reason = error instanceof Error ? error.message : String(error)
    throw invalidIntent(
      `payload cannot be read: ${reason}`,
      'pass plain data, whose getters and toJSON do not throw',
    )
  }
}

function write(value: unknown, depth: number, lens: Lens | undefined, walk: Walk): string {
  if (typeof value === 'object' && value !== null) return writeObject(value, depth, lens, walk)
  if (lens !== undefined && !lens.leaf) return UNDEFINED
  switch (typeof value) {
    case 'string':
      return NEEDS_ESCAPE.test(value) ? escapeString(value, depth, walk) : `"${value}"`
    case 'number':
      return value >= -walk.largest && value <= walk.largest ? `${value}` : refuseNumber(value, depth, walk)
    case 'boolean':
      return value ? 'true' : 'false'
    case 'object':
      return 'null'
    case 'bigint':
      return tagged('bigint', `"${value}"`)
    case 'undefined':
      return UNDEFINED
    default:
      return refuse(`is a ${typeof value}`, 'leave it out of the payload: it is no data', depth, walk)
  }
}

function escapeString(value: string, depth: number, walk: Walk): string {
  return value.isWellFormed() ? JSON.stringify(value) : refuseText('has half a surrogate pair', depth, walk)
}

function writeObject(value: object, depth: number, lens: Lens | undefined, walk: Walk): string {
  if (depth >= DEEPEST) refuseDepth(value, walk)
  walk.open[depth] = value
  const kind = kindOf(value)
  if (kind === 'object') return writeMembers(value as Record<string, unknown>, depth, lens, walk)
  if (kind === 'array') return listed(writeItems(value as unknown[], depth, lens, walk))
  if (kind === 'instance') return writeInstance(value, depth, lens, walk)
  return lens === undefined || lens.leaf ? writeTagged(value, kind, depth, walk) : UNDEFINED
}

function writeMembers(
  value: Record<string, unknown>,
  depth: number,
  lens: Lens | undefined,
  walk: Walk,
): string {
  const names = sortNames(Object.keys(value))
  let text = ''
  for (let i = 0; i < names.length; i++) {
    const name = names[i] as string
    const member = value[name]
    if (member === undefined) continue
    const view = lens === undefined || lens.member(name)
    if (view === false) continue
    walk.trail[depth] = name
    const lead = text === '' ? firstLead(name) : nextLead(name)
    if (lead === undefined) refuseText('has half a surrogate pair in its name', depth + 1, walk)
    text += lead + writeSeen(member, depth + 1, view, walk)
  }
  return text === '' ? '{}' : `${text}}`
}

function writeItems(items: readonly unknown[], depth: number, lens: Lens | undefined, walk: Walk): string[] {
  const texts: string[] = []
  for (let i = 0; i < items.length; i++) {
    const view = lens === undefined || lens.item(i)
    walk.trail[depth] = i
    texts.push(view === false ? UNDEFINED : writeSeen(items[i], depth + 1, view, walk))
  }
  return texts
}

function writeSeen(value: unknown, depth: number, view: Lens | true, walk: Walk): string {
  if (view !== true) return write(value, depth, view, walk)
  walk.counted++
  return write(value, depth, undefined, walk)
}

/**
 * Once, like JSON.stringify: what toJSON gives is the value, and must be data by then. The toJSON that a class
 * inherits from Date knows nothing of what the class adds, and its text is that of a plain string.
 */
function writeInstance(value: object, depth: number, lens: Lens | undefined, walk: Walk): string {
  if ('toJSON' in value && typeof value.toJSON === 'function' && !types.isDate(value)) {
    const data: unknown = value.toJSON()
    if (typeof data !== 'object' || data === null || kindOf(data) !== 'instance')
      return write(data, depth, lens, walk)
  }
  const name = String((value.constructor as { readonly name?: unknown } | undefined)?.name)
  return refuse(
    `is an instance of ${name}, which may hold more than it shows`,
    'pass plain data, or give the class a toJSON that returns all of it as plain data',
    depth,
    walk,
  )
}

/** Order is no part of a Map or a Set, so their canonical texts are sorted. */
function writeTagged(value: object, kind: Kind, depth: number, walk: Walk): string {
  switch (kind) {
    case 'date':
      return tagged(kind, writeTime(value as Date, depth, walk))
    case 'map':
      return tagged(
        kind,
        listed(writeItems([...(value as Map<unknown, unknown>)], depth, undefined, walk).sort()),
      )
    case 'set':
      return tagged(kind, listed(writeItems([...(value as Set<unknown>)], depth, undefined, walk).sort()))
    case 'bytes':
      return tagged(kind, `"${bytesOf(value).toString('base64')}"`)
    default: {
      const numbers = value as Float64Array
      const items = writeItems(Array.from(numbers), depth, undefined, walk)
      return tagged(numbers[Symbol.toStringTag].toLowerCase(), listed(items))
    }
  }
}

function writeTime(date: Date, depth: number, walk: Walk): string {
  const time = date.getTime()
  return Number.isNaN(time)
    ? refuse('is an invalid Date', 'pass a Date that holds a time', depth, walk)
    : `${time}`
}

function bytesOf(value: object): Buffer {
  if (ArrayBuffer.isView(value)) return Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  return Buffer.from(value as ArrayBuffer)
}

function tagged(kind: string, text: string): string {
  return `{"$ibid":"${kind}","v":${text}}`
}

function listed(texts: readonly string[]): string {
  return `[${texts.join(',')}]`
}
