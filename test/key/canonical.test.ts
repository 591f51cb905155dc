import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { canonicalJson } from '../../src/key/canonical.js'
import { refusal } from './refusal.js'

const double = (hex: string): number => Buffer.from(hex, 'hex').readDoubleBE()

describe('RFC 8785', () => {
  it.each([
    ['0000000000000000', '0'],
    ['8000000000000000', '0'],
    ['0000000000000001', '5e-324'],
    ['8000000000000001', '-5e-324'],
    ['7fefffffffffffff', '1.7976931348623157e+308'],
    ['ffefffffffffffff', '-1.7976931348623157e+308'],
    ['4340000000000000', '9007199254740992'],
    ['c340000000000000', '-9007199254740992'],
    ['4430000000000000', '295147905179352830000'],
    ['44b52d02c7e14af5', '9.999999999999997e+22'],
    ['44b52d02c7e14af6', '1e+23'],
    ['44b52d02c7e14af7', '1.0000000000000001e+23'],
    ['444b1ae4d6e2ef4e', '999999999999999700000'],
    ['444b1ae4d6e2ef4f', '999999999999999900000'],
    ['444b1ae4d6e2ef50', '1e+21'],
    ['3eb0c6f7a0b5ed8c', '9.999999999999997e-7'],
    ['3eb0c6f7a0b5ed8d', '0.000001'],
    ['41b3de4355555553', '333333333.3333332'],
    ['41b3de4355555554', '333333333.33333325'],
    ['41b3de4355555555', '333333333.3333333'],
    ['41b3de4355555556', '333333333.3333334'],
    ['41b3de4355555557', '333333333.33333343'],
    ['becbf647612f3696', '-0.0000033333333333333333'],
    ['43143ff3c1cb0959', '1424953923781206.2'],
  ])('writes the double %s of its number table as %s [R22]', (hex, text) => {
    expect(canonicalJson(double(hex))).toBe(text)
  })

  it.each([
    ['7fffffffffffffff', 'NaN'],
    ['7ff0000000000000', 'Infinity'],
    ['fff0000000000000', '-Infinity'],
  ])('refuses the double %s of its number table, %s [R22]', (hex, name) => {
    expect(refusal(() => canonicalJson({ a: [double(hex)] })).message).toContain(`payload.a[0] is ${name}`)
  })

  it('writes the sample of section 3.2.2 [R22]', () => {
    const sample = {
      numbers: [Number('333333333.33333329'), 1e30, 4.5, 2e-3, 0.000000000000000000000000001],
      string: '\u20ac$\u000F\u000aA\'\u0042\u0022\u005c\\"/',
      literals: [null, true, false],
    }
    expect(canonicalJson(sample)).toBe(
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],' +
        '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    )
  })

  it('sorts the sample of section 3.2.3 by UTF-16 code units [R22]', () => {
    const sample = {
      '\u20ac': 'Euro Sign',
      '\r': 'Carriage Return',
      '\ufb33': 'Hebrew Letter Dalet With Dagesh',
      '1': 'One',
      '\ud83d\ude00': 'Emoji: Grinning Face',
      '\u0080': 'Control',
      '\u00f6': 'Latin Small Letter O With Diaeresis',
    }
    expect(Object.values(JSON.parse(canonicalJson(sample)) as object)).toEqual([
      'One',
      'Carriage Return',
      'Control',
      'Latin Small Letter O With Diaeresis',
      'Euro Sign',
      'Emoji: Grinning Face',
      'Hebrew Letter Dalet With Dagesh',
    ])
    expect(canonicalJson(sample)).toMatch(/^\{"\\r":"Carriage Return","1":/)
  })

  it('sorts numbers-like names as text, and many members like few [R22]', () => {
    expect(canonicalJson({ 9: 0, 10: 1, 1: 2 })).toBe('{"1":2,"10":1,"9":0}')
    const names = Array.from({ length: 40 }, (_, i) => String(i))
    const text = canonicalJson(Object.fromEntries(names.map((name) => [name, 0])))
    expect(text).toBe(
      `{${names
        .toSorted()
        .map((name) => `"${name}":0`)
        .join(',')}}`,
    )
  })

  it('does not sort by locale: B before a before ä (spliit-cloud#68) [R22]', () => {
    expect(canonicalJson({ ä: 1, a: 2, B: 3, _: 4 })).toBe('{"B":3,"_":4,"a":2,"ä":1}')
  })

  it('writes every escape in its short form and everything else as it is [R22]', () => {
    expect(canonicalJson('\b\t\n\f\r"\\/\u0000\u001f\u007f\u2028😀')).toBe(
      '"\\b\\t\\n\\f\\r\\"\\\\/\\u0000\\u001f\u007f\u2028😀"',
    )
  })

  it.each([
    [{}, '{}'],
    [[], '[]'],
    [null, 'null'],
    ['', '""'],
    [{ a: { b: [] } }, '{"a":{"b":[]}}'],
  ])('writes %j as %s [R22]', (value, text) => expect(canonicalJson(value)).toBe(text))
})

describe('what JSON lacks', () => {
  it.each([
    ['Date', new Date(86_400_000), '{"$ibid":"date","v":86400000}'],
    ['bigint', 10n, '{"$ibid":"bigint","v":"10"}'],
    ['undefined', undefined, '{"$ibid":"undefined"}'],
    ['undefined in an array', [undefined], '[{"$ibid":"undefined"}]'],
    ['a hole', Array(1), '[{"$ibid":"undefined"}]'],
    [
      'Map',
      new Map<unknown, unknown>([
        ['b', 1],
        ['a', [2]],
      ]),
      '{"$ibid":"map","v":[["a",[2]],["b",1]]}',
    ],
    ['Set', new Set([3, 'x', 1]), '{"$ibid":"set","v":["x",1,3]}'],
    ['Uint8Array', new Uint8Array([1, 2]), '{"$ibid":"bytes","v":"AQI="}'],
    ['a part of a buffer', new Uint8Array([0, 1, 2, 3]).subarray(1, 3), '{"$ibid":"bytes","v":"AQI="}'],
    ['Buffer', Buffer.from([1, 2]), '{"$ibid":"bytes","v":"AQI="}'],
    ['ArrayBuffer', new Uint8Array([1, 2]).buffer, '{"$ibid":"bytes","v":"AQI="}'],
    ['DataView', new DataView(new Uint8Array([1, 2]).buffer), '{"$ibid":"bytes","v":"AQI="}'],
    ['Float64Array', new Float64Array([1, 2.5]), '{"$ibid":"float64array","v":[1,2.5]}'],
    ['BigInt64Array', new BigInt64Array([1n]), '{"$ibid":"bigint64array","v":[{"$ibid":"bigint","v":"1"}]}'],
    ['a class with toJSON', new URL('https://a.example/'), '"https://a.example/"'],
    ['an object without prototype', Object.assign(Object.create(null), { a: 1 }) as object, '{"a":1}'],
    ['objects of another realm', runInNewContext('({ a: [new Date(0)] })'), '{"a":[{"$ibid":"date","v":0}]}'],
  ])('has one text for %s [R22]', (_name, value, text) => {
    expect(canonicalJson(value)).toBe(text)
  })

  it('takes an undefined member for an absent one, as on the wire [R22]', () => {
    expect(canonicalJson({ a: undefined, b: 1, c: undefined })).toBe('{"b":1}')
  })

  it('keeps an own __proto__ member (powertools-ts 2.35) [R22]', () => {
    expect(canonicalJson(JSON.parse('{"__proto__":1}'))).toBe('{"__proto__":1}')
  })

  it('escapes members that look like a tag, and sorts by what it writes [R22]', () => {
    expect(canonicalJson({ $ibid: 'date', v: 0 })).toBe('{"$$ibid":"date","v":0}')
    expect(canonicalJson({ $a: 1, $ibid: 2, $$ibid: 3, $ibid2: 4 })).toBe(
      '{"$$$ibid":3,"$$ibid":2,"$a":1,"$ibid2":4}',
    )
    expect(canonicalJson({ $$ibid: 3, $ibid: 2 })).toBe('{"$$$ibid":3,"$$ibid":2}')
  })

  it('never takes data for a tag, whatever it holds [R22]', () => {
    for (const value of [new Date(0), 10n, new Set([1]), new Uint8Array(2), undefined]) {
      expect(canonicalJson(JSON.parse(canonicalJson(value)))).not.toBe(canonicalJson(value))
    }
  })

  it('is not slowed into errors by many or long names [R22]', () => {
    const many = Object.fromEntries(Array.from({ length: 6_000 }, (_, i) => [`name${i}`, i]))
    expect(JSON.parse(canonicalJson(many))).toEqual(many)
    expect(canonicalJson({ ['x'.repeat(100)]: 1 })).toBe(`{"${'x'.repeat(100)}":1}`)
  })
})

class Money {
  readonly #amount: number
  constructor(amount: number) {
    this.#amount = amount
  }
  amount(): number {
    return this.#amount
  }
}

class Zoned extends Date {}

function nested(levels: number): unknown {
  let value: unknown = 1
  for (let i = 0; i < levels; i++) value = { a: value }
  return value
}

describe('refuses, naming the place', () => {
  const cyclic: { list: unknown[] } = { list: [] }
  cyclic.list.push({ up: cyclic })

  it.each<[string, unknown, string]>([
    [
      'NaN',
      { items: [1, 2, { amount: Number.NaN }] },
      'payload.items[2].amount is NaN, which JSON does not have',
    ],
    ['half a surrogate pair', { a: 'x\ud800y' }, 'payload.a has half a surrogate pair'],
    ['half a surrogate pair in a name', { a: { '\udc00': 1 } }, 'payload.a["\\udc00"] has half a surrogate'],
    [
      'a broken name behind a deeper one',
      { a: { b: 1 }, '\udc00': 1 },
      'payload["\\udc00"] has half a surrogate',
    ],
    ['a function', { a: { go: () => 1 } }, 'payload.a.go is a function'],
    ['a symbol', [Symbol('s')], 'payload[0] is a symbol'],
    ['an invalid Date', { 'the day': new Date('no') }, 'payload["the day"] is an invalid Date'],
    ['a class with private state', { price: new Money(5) }, 'payload.price is an instance of Money'],
    ['a class derived from a built-in', new Zoned(0), 'payload is an instance of Zoned'],
    ['a Map derived', new (class Tags extends Map {})(), 'payload is an instance of Tags'],
    [
      'a toJSON that gives an instance',
      {
        toJSON: null,
        a: new (class A {
          toJSON(): object {
            return new Money(1)
          }
        })(),
      },
      'payload.a is an instance of A',
    ],
    ['an object with a hidden parent', Object.create({ a: 1 }), 'payload is an instance of Object'],
    [
      'an object with a bare parent',
      Object.create(Object.create(null)),
      'payload is an instance of undefined',
    ],
    ['NaN in a typed array', { f: new Float32Array([Number.NaN]) }, 'payload.f[0] is NaN'],
    ['NaN in a Map', new Map([['a', Number.NaN]]), 'payload[0][1] is NaN'],
    ['a cycle', cyclic, 'payload.list[0].up contains itself'],
    [
      'a cycle further down',
      { first: { second: cyclic } },
      'payload.first.second.list[0].up contains itself',
    ],
    [
      'a toJSON that is no function',
      { a: Object.assign(new Money(5), { toJSON: 5 }) },
      'payload.a is an instance',
    ],
    ['129 levels', nested(129), 'is nested deeper than 128 levels'],
    [
      'a getter that throws',
      {
        get a() {
          throw new RangeError('no a')
        },
      },
      'payload cannot be read: no a',
    ],
    [
      'a getter that throws text',
      {
        get a() {
          // oxlint-disable-next-line typescript/only-throw-error
          throw 'words'
        },
      },
      'payload cannot be read: words',
    ],
  ])('%s [R22]', (_name, value, message) => {
    const error = refusal(() => canonicalJson(value))
    expect(error.message).toContain(message)
    expect(error.message).toContain('nothing was executed')
    expect(error.retriable).toBe(false)
    expect(error.action).not.toBe('')
  })

  it('allows 128 levels, and one object in two places [R22]', () => {
    expect(canonicalJson(nested(128))).toHaveLength(128 * '{"a":}'.length + 1)
    const lists = '['.repeat(128) + ']'.repeat(128)
    expect(canonicalJson(JSON.parse(lists))).toBe(lists)
    const twice = { x: 1 }
    expect(canonicalJson([twice, twice])).toBe('[{"x":1},{"x":1}]')
  })

  it('keeps the place readable when names are long [R22]', () => {
    const long = 'n'.repeat(1_000)
    const error = refusal(() => canonicalJson({ [long]: { [long]: { [long]: { [long]: Number.NaN } } } }))
    expect(error.message).toContain('…')
    expect(error.message.length).toBeLessThan(400)
    expect(refusal(() => canonicalJson({ [long]: Number.NaN })).message).toContain('["nnn')
  })
})
