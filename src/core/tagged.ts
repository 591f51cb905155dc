/**
 * JSON that keeps what JSON drops. A value that JSON cannot carry becomes `{ "$ibid": kind, "v": … }`; a member
 * that is really called `$ibid` gets a `$` more, so that no data can pass for a tag.
 */

const DEEPEST = 200
const TAG = '$ibid'
const ESCAPED = /^\$+ibid$/
const WRAPPED = /^\[object (?:Number|String|Boolean)\]$/

/** Does JSON.stringify keep all of it? Deeper than any stack we trust counts as no. */
export function isPlain(value: unknown, depth = 0): boolean {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return true
    case 'number':
      return Number.isFinite(value) && !Object.is(value, -0)
    case 'object':
      return value === null || (depth < DEEPEST && isPlainObject(value, depth))
    default:
      return false
  }
}

function isPlainObject(value: object, depth: number): boolean {
  if ('toJSON' in value) return false
  if (Array.isArray(value)) {
    if (Object.getPrototypeOf(value) !== Array.prototype) return false
    for (let i = 0; i < value.length; i++) if (!isPlain(value[i], depth + 1)) return false
    return true
  }
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return false
  for (const name of Object.keys(value)) {
    if (name.startsWith('$') && ESCAPED.test(name)) return false
    if (!isPlain((value as Record<string, unknown>)[name], depth + 1)) return false
  }
  return true
}

/** A copy of plain data that its owner may change; what `isPlain` said yes to. */
export function copyPlain(value: unknown): unknown {
  if (value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) return value.map(copyPlain)
  const copy: Record<string, unknown> = { ...value }
  for (const name in copy) if (isObject(copy[name])) copy[name] = copyPlain(copy[name])
  return copy
}

/** An object with nothing nested in it: a spread is a copy of it, and by far the fastest. */
export function isFlat(value: unknown): value is object {
  return isObject(value) && !Array.isArray(value) && !Object.values(value).some(isObject)
}

/** Is `other` plain data with the same content as `mine`, a copy of plain data? In doubt: no. */
export function samePlain(mine: unknown, other: unknown): boolean {
  if (mine === other) return true
  if (!isObject(mine) || !isObject(other)) return false
  const prototype: unknown = Object.getPrototypeOf(other)
  if ('toJSON' in other) return false
  if (Array.isArray(mine)) {
    if (prototype !== Array.prototype || !Array.isArray(other) || mine.length !== other.length) return false
    for (let i = 0; i < mine.length; i++) if (!samePlain(mine[i], other[i])) return false
    return true
  }
  if (prototype !== Object.prototype && prototype !== null) return false
  // What all objects inherit would count as theirs.
  for (const _ in Object.prototype) return false
  let more = 0
  for (const name in other) {
    const one: unknown = mine[name as keyof object]
    const two: unknown = other[name as keyof object]
    // Every object answers to some names, with a function or its prototype, so that their being equal proves nothing.
    if (two === undefined || typeof two === 'function' || name === '__proto__') return false
    if (one !== two && !samePlain(one, two)) return false
    more++
  }
  for (const _ in mine) more--
  return more === 0
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** Throws only where there is no sensible text: cycles and bottomless depth. */
export function toTagged(value: unknown, depth = 0): unknown {
  if (depth > DEEPEST) throw new RangeError(`it is nested deeper than ${DEEPEST} levels, or contains itself`)
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value
    case 'number':
      return Number.isFinite(value) && !Object.is(value, -0) ? value : tag('number', numberName(value))
    case 'bigint':
      return tag('bigint', String(value))
    case 'object':
      return value === null ? null : objectToTagged(value, depth)
    default:
      // Functions and symbols are no data: like JSON, keep their place and nothing else.
      return tag('undefined')
  }
}

function objectToTagged(value: object, depth: number): unknown {
  if (Array.isArray(value) && !('toJSON' in value))
    return Array.from(value, (item) => toTagged(item, depth + 1))
  if (value instanceof Date) return tag('date', value.getTime())
  if (value instanceof Map) {
    return tag(
      'map',
      Array.from(value, ([k, v]) => [toTagged(k, depth + 1), toTagged(v, depth + 1)]),
    )
  }
  if (value instanceof Set)
    return tag(
      'set',
      Array.from(value, (item) => toTagged(item, depth + 1)),
    )
  if (value instanceof ArrayBuffer) return tag('bytes', Buffer.from(value).toString('base64'))
  if (ArrayBuffer.isView(value)) {
    return tag('bytes', Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64'))
  }
  if ('toJSON' in value && typeof value.toJSON === 'function') return toTagged(value.toJSON(), depth + 1)
  if (WRAPPED.test(Object.prototype.toString.call(value))) return toTagged(value.valueOf(), depth + 1)
  // What an error says is not among its members; its cause can hold anything, and stays behind.
  if (value instanceof Error) {
    const { name, message } = value
    return tag('error', toTagged({ ...(value as object), name, message }, depth + 1))
  }
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => typeof member !== 'function')
      .map(([name, member]) => [ESCAPED.test(name) ? `$${name}` : name, toTagged(member, depth + 1)]),
  )
}

export function fromTagged(tagged: unknown): unknown {
  if (tagged === null || typeof tagged !== 'object') return tagged
  if (Array.isArray(tagged)) return tagged.map(fromTagged)
  if (TAG in tagged) return untag(tagged as unknown as { readonly [TAG]: string; readonly v: never })
  return Object.fromEntries(
    Object.entries(tagged).map(([name, member]) => [
      ESCAPED.test(name) ? name.slice(1) : name,
      fromTagged(member),
    ]),
  )
}

function untag(tagged: { readonly [TAG]: string; readonly v: never }): unknown {
  switch (tagged[TAG]) {
    case 'number':
      return Number(tagged.v)
    case 'bigint':
      return BigInt(tagged.v)
    case 'date':
      return new Date(tagged.v ?? Number.NaN)
    case 'map':
      return new Map(fromTagged(tagged.v) as [unknown, unknown][])
    case 'set':
      return new Set(fromTagged(tagged.v) as unknown[])
    case 'bytes':
      return new Uint8Array(Buffer.from(tagged.v, 'base64'))
    case 'error':
      return errorFrom(fromTagged(tagged.v) as { readonly name: string; readonly message: string })
    default:
      return undefined
  }
}

/** Its stack would be the one of this replay, and say nothing of where it was made. */
function errorFrom({
  name,
  message,
  ...members
}: {
  readonly name: string
  readonly message: string
}): Error {
  const hidden = { configurable: true, writable: true }
  return Object.defineProperties(new Error(message), {
    ...Object.getOwnPropertyDescriptors(members),
    name: { value: name, ...hidden },
    stack: { value: `${name}: ${message}`, ...hidden },
  })
}

function tag(kind: string, v?: unknown): unknown {
  return v === undefined ? { [TAG]: kind } : { [TAG]: kind, v }
}

function numberName(value: number): string {
  return Object.is(value, -0) ? '-0' : String(value)
}
