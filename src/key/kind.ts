/**
 * What an object is to the canonical form. Built-ins are told by their internals, not by `instanceof`, so that
 * objects of another realm count. Anything derived from a built-in is an `instance`: it may hold more than it shows.
 */
import { types } from 'node:util'

export type Kind = 'array' | 'object' | 'date' | 'map' | 'set' | 'bytes' | 'numbers' | 'instance'

export function kindOf(value: object): Kind {
  const prototype = Object.getPrototypeOf(value) as object | null
  if (prototype === Object.prototype || prototype === null) return 'object'
  if (prototype === Array.prototype && Array.isArray(value)) return 'array'
  return rareKindOf(value, prototype)
}

function rareKindOf(value: object, prototype: object): Kind {
  const above = Object.getPrototypeOf(prototype) as object | null
  if (above === null) return Object.hasOwn(prototype, 'isPrototypeOf') ? 'object' : 'instance'
  const direct = Object.getPrototypeOf(above) === null
  if (direct && Array.isArray(value)) return 'array'
  if (direct && types.isDate(value)) return 'date'
  if (direct && types.isMap(value)) return 'map'
  if (direct && types.isSet(value)) return 'set'
  if (types.isUint8Array(value) || types.isAnyArrayBuffer(value) || types.isDataView(value)) return 'bytes'
  return types.isTypedArray(value) ? 'numbers' : 'instance'
}
