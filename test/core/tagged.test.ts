import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { copyPlain, fromTagged, isFlat, isPlain, samePlain, toTagged } from '../../src/core/tagged.js'
import { canonicalJson } from '../../src/key/canonical.js'

const nested = (wrap: (inner: unknown) => unknown, levels: number, innermost: unknown = 'x'): unknown => {
  let value = innermost
  for (let level = 0; level < levels; level++) value = wrap(value)
  return value
}

const inError = (inner: unknown): unknown => Object.assign(new Error('x'), { inner })

describe('plain is what JSON keeps all of', () => {
  it.each<[unknown]>([
    ['a'],
    [true],
    [0],
    [-1.5],
    [null],
    [[]],
    [{}],
    [[1, [null, { a: [false] }]]],
    [{ a: { b: 1 }, c: 'x' }],
    [Object.assign(Object.create(null), { a: 1 })],
    [{ $x: 1, ibid: 2, $ibids: 3 }],
  ])('yes: %j [R5]', (value) => {
    expect(isPlain(value)).toBe(true)
  })

  it.each<[unknown]>([
    [Number.NaN],
    [Number.POSITIVE_INFINITY],
    [-0],
    [undefined],
    [1n],
    [Symbol('s')],
    [() => 1],
    [new Date(0)],
    [new Map()],
    [[1, undefined]],
    [[undefined, 1]],
    [{ a: 1, b: undefined }],
    [{ a: [{ b: -0 }] }],
    [{ toJSON: 'text' }],
    [{ $ibid: 1 }],
    [{ a: { $$ibid: 1 } }],
  ])('no: %o [R5]', (value) => {
    expect(isPlain(value)).toBe(false)
  })

  it.each<[string, (inner: unknown) => unknown]>([
    ['arrays', (inner) => [inner]],
    ['objects', (inner) => ({ a: inner })],
  ])('down to 200 levels of %s, and no further [R5]', (_name, wrap) => {
    expect(isPlain(nested(wrap, 200))).toBe(true)
    expect(isPlain(nested(wrap, 201))).toBe(false)
  })
})

describe('what is written with tags', () => {
  it('has them only where JSON would drop something [R5]', () => {
    const kept = [1, 'x', true, null, { a: [0.5] }]
    expect(toTagged(kept)).toStrictEqual(kept)
    expect(toTagged([-0, 1n])).toEqual([
      { $ibid: 'number', v: '-0' },
      { $ibid: 'bigint', v: '1' },
    ])
  })

  it.each<[string, (inner: unknown) => unknown]>([
    ['arrays', (inner) => [inner]],
    ['objects', (inner) => ({ a: inner })],
    ['keys of maps', (inner) => new Map([[inner, 1]])],
    ['values of maps', (inner) => new Map([[1, inner]])],
    ['sets', (inner) => new Set([inner])],
    ['objects that say what they are', (inner) => ({ toJSON: () => inner })],
  ])('goes down to 200 levels of %s, and no further [R5]', (_name, wrap) => {
    toTagged(nested(wrap, 200))
    expect(() => toTagged(nested(wrap, 201))).toThrow('nested deeper than 200 levels')
  })

  it('goes down to 200 levels of errors, each of which is two, and of what is wrapped [R5]', () => {
    toTagged(nested(inError, 100))
    expect(() => toTagged(nested(inError, 101))).toThrow('nested deeper than 200 levels')
    toTagged(nested(Array.of, 199, Object(5)))
    expect(() => toTagged(nested(Array.of, 200, Object(5)))).toThrow('nested deeper than 200 levels')
  })

  it('an error that is read again has a name and a stack as others have: hidden, and to be changed [R5]', () => {
    const hidden = { configurable: true, enumerable: false, writable: true }
    const error = fromTagged(toTagged(Object.assign(new TypeError('late'), { code: 'E1' }))) as Error
    expect(Object.getOwnPropertyDescriptor(error, 'name')).toEqual({ value: 'TypeError', ...hidden })
    expect(Object.getOwnPropertyDescriptor(error, 'stack')).toEqual({ value: 'TypeError: late', ...hidden })
    expect(Object.keys(error)).toEqual(['code'])
  })
})

const few = fc.oneof(
  { withCrossShrink: true },
  fc.jsonValue({ maxDepth: 3 }),
  fc.object({
    key: fc.constantFrom('a', 'b', '__proto__', 'toString'),
    values: [fc.constantFrom<unknown>(0, 1, '1', null, false, undefined), fc.constant({})],
    maxKeys: 3,
    withNullPrototype: true,
  }),
)
const plain = few.filter((value) => isPlain(value))

describe('two payloads that are taken for the same without hashing', () => {
  it('would have the same fingerprint [R4] [R22]', () => {
    fc.assert(
      fc.property(plain, few, (first, later) => {
        expect(samePlain(copyPlain(first), later) && canonicalJson(first) !== canonicalJson(later)).toBe(
          false,
        )
      }),
      { numRuns: 20_000 },
    )
  })

  it('are found where they are equal, whatever the order of members [R4]', () => {
    fc.assert(
      fc.property(plain, (value) => {
        const hasProto = JSON.stringify(value).includes('"__proto__":')
        expect(samePlain(copyPlain(value), structuredClone(value))).toBe(!hasProto)
      }),
    )
    expect(samePlain({ a: 1, b: [{ c: null }] }, { b: [{ c: null }], a: 1 })).toBe(true)
  })

  it.each<[unknown, unknown]>([
    [{ a: 1 }, { a: 2 }],
    [{ a: 1 }, { a: 1, b: 1 }],
    [{ a: 1, b: 1 }, { a: 1 }],
    [{ a: 1 }, { b: 1 }],
    [[1], [1, 2]],
    [[1], [2]],
    [[], {}],
    [{}, []],
    [{}, null],
    [null, {}],
    [{}, 1],
    [{}, new Map()],
    [{}, new Date(0)],
    [[1], new Uint8Array([1])],
    [1, 1n],
    [
      { a: 1 },
      new (class A {
        readonly a = 1
      })(),
    ],
  ])('are not %j and %o [R4]', (first, later) => {
    expect(samePlain(copyPlain(first), later)).toBe(false)
  })

  it('are not __proto__ and something else: no inherited member passes for data (powertools-ts 2.35) [R22]', () => {
    expect(samePlain(copyPlain(JSON.parse('{"__proto__":{}}')), { x: 1 })).toBe(false)
    expect(samePlain(copyPlain(JSON.parse('{"a":{"__proto__":{}}}')), { a: { x: {} } })).toBe(false)
  })

  it.each([
    ['what writes itself otherwise', { a: 1 }, Object.assign({ a: 1 }, { toJSON: () => 2 })],
    ['a list that does', [1], Object.assign([1], { toJSON: () => 2 })],
    [
      'what only looks like a list',
      [1],
      Object.assign(Object.create(Array.prototype) as object, { 0: 1, length: 1 }),
    ],
    ['a hidden member', { a: 1 }, Object.defineProperty({ b: 2 }, 'a', { value: 1 })],
    ['a member without a value', { b: 1 }, { a: undefined }],
    ['a function that all have', { b: 1 }, { toString: Object.prototype.toString }],
  ])('are not %s [R4] [R22]', (_, first, later) => {
    expect(samePlain(copyPlain(first), later)).toBe(false)
  })

  it('are no lists of another class, and none that write themselves [R5]', () => {
    class Rows extends Array<number> {}
    expect(isPlain(Rows.from([1]))).toBe(false)
    const own = Object.assign([1], { toJSON: () => ({ rows: 1 }) })
    expect(isPlain(own)).toBe(false)
    expect(toTagged(own)).toEqual({ rows: 1 })
    expect(toTagged(Rows.from([1]))).toEqual([1])
  })

  it('are not told by a member that every object has been given [R22]', () => {
    Reflect.defineProperty(Object.prototype, 'a', { value: 1, configurable: true, enumerable: true })
    const same = samePlain({ a: 1, b: 2 }, { b: 2, c: 3 })
    Reflect.deleteProperty(Object.prototype, 'a')
    expect(same).toBe(false)
  })
})

it.each<[unknown, boolean]>([
  [{}, true],
  [{ a: 1, b: null, c: 'x', d: false }, true],
  [{ a: 1, b: {} }, false],
  [{ a: [] }, false],
  [[1], false],
  [null, false],
  ['text', false],
])('%j has nothing nested in it: %s', (value, flat) => {
  expect(isFlat(value)).toBe(flat)
})

it('a member of a copy may be changed and deleted, whatever its name', () => {
  const copy = copyPlain(JSON.parse('{"__proto__":1,"a":2}')) as object
  const free = { enumerable: true, configurable: true, writable: true }
  expect(Object.getOwnPropertyDescriptor(copy, '__proto__')).toEqual({ value: 1, ...free })
  expect(Object.getOwnPropertyDescriptor(copy, 'a')).toEqual({ value: 2, ...free })
})

it("a copy is equal, and is nobody else's: a later change of the payload does not reach it [R4]", () => {
  const payload = JSON.parse('{"a":[{"b":1}],"__proto__":{"c":2}}') as { a: { b: number }[] }
  const copy = copyPlain(payload)
  expect(copy).toStrictEqual(payload)
  ;(payload.a[0] as { b: number }).b = 2
  expect(JSON.stringify(copy)).toBe('{"a":[{"b":1}],"__proto__":{"c":2}}')
})
