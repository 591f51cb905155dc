import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { canonicalJson } from '../../src/key/canonical.js'
import { fingerprint, identityText } from '../../src/key/fingerprint.js'
import { parseStrict } from '../../src/key/parse.js'
import { intentKey } from '../../src/key/template.js'
import { deriveKey } from '../../src/key/derive.js'

const derive = (x: string, y: string): string => deriveKey({ tenant: 't', layer: 'l', x, y }, null)

const RUNS = { numRuns: 2_000 }

const leaf = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('', '$ibid', '"', '\\', '\u0000', '__proto', 'a', 'b'),
  fc.maxSafeInteger(),
  fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e15, max: 1e15 }),
  fc.boolean(),
  fc.constant(null),
)
const name = fc.oneof(
  fc.constantFrom('a', 'b', '$ibid', '$$ibid', 'v', '1', '10', '9', ''),
  fc.string({ unit: 'binary' }),
)
const json = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    leaf,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(
      name.filter((one) => one !== '__proto__'),
      tie('value'),
      { maxKeys: 5 },
    ),
  ),
})).value

function shuffled(value: unknown, by: number): unknown {
  if (Array.isArray(value)) return value.map((item) => shuffled(item, by))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, member]) => [key, shuffled(member, by)] as const)
  const turned = entries.slice(by % 7).concat(entries.slice(0, by % 7))
  return Object.fromEntries(by % 2 === 0 ? turned : turned.toReversed())
}

/** Deep equality with another implementation than ours; -0 is 0 in JSON. */
function same(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const [one, other] = [Object.entries(a), new Map(Object.entries(b))]
  return (
    one.length === other.size && one.every(([key, member]) => other.has(key) && same(member, other.get(key)))
  )
}

it('different JSON values never share a fingerprint, equal ones always do [R22]', () => {
  fc.assert(
    fc.property(json, json, (a, b) => {
      expect(fingerprint(a) === fingerprint(b)).toBe(same(a, b))
    }),
    RUNS,
  )
})

it('a value and the same with one leaf changed never share a fingerprint [R22]', () => {
  fc.assert(
    fc.property(json, leaf, fc.nat(), (value, other, at) => {
      const leaves: (() => unknown)[] = []
      const collect = (node: unknown, rebuild: (changed: unknown) => unknown): void => {
        if (Array.isArray(node)) {
          node.forEach((item, i) => collect(item, (changed) => rebuild(node.with(i, changed))))
        } else if (typeof node === 'object' && node !== null) {
          for (const [key, member] of Object.entries(node)) {
            collect(member, (changed) =>
              rebuild(Object.fromEntries([...Object.entries(node), [key, changed]])),
            )
          }
        } else if (!same(node, other)) leaves.push(() => rebuild(other))
      }
      collect(value, (changed) => changed)
      fc.pre(leaves.length > 0)
      const changed = (leaves[at % leaves.length] as () => unknown)()
      expect(fingerprint(changed)).not.toBe(fingerprint(value))
    }),
    RUNS,
  )
})

it('the order of members never changes a fingerprint [R22]', () => {
  fc.assert(
    fc.property(json, fc.nat(), (value, by) => {
      expect(fingerprint(shuffled(value, by))).toBe(fingerprint(value))
    }),
    RUNS,
  )
})

const withoutTags = json.filter((value) => !JSON.stringify(value).includes('ibid"'))

it('canonical text is JSON of the same value, and canonical again [R22]', () => {
  fc.assert(
    fc.property(withoutTags, (value) => {
      const text = canonicalJson(value)
      expect(same(JSON.parse(text), value)).toBe(true)
      expect(canonicalJson(parseStrict(text))).toBe(text)
      expect(identityText(value)).toBe(text)
    }),
    RUNS,
  )
})

it('parseStrict agrees with JSON.parse on JSON without traps, with any white space [R22]', () => {
  fc.assert(
    fc.property(json, fc.constantFrom('', ' ', '\t', '\n  '), (value, space) => {
      const text = JSON.stringify(value, null, space)
      expect(parseStrict(text)).toStrictEqual(JSON.parse(text))
      expect(parseStrict(new TextEncoder().encode(` ${text}\r\n`))).toStrictEqual(JSON.parse(text))
    }),
    RUNS,
  )
})

it('parseStrict never reads what JSON.parse refuses [R22]', () => {
  const piece = fc.constantFrom(
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"',
    '"a"',
    '1',
    '-',
    '.',
    'e',
    '0',
    'true',
    'null',
    '\\',
    ' ',
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
      const text = pieces.join('')
      let read: unknown
      try {
        read = parseStrict(text)
      } catch {
        return
      }
      expect(read).toStrictEqual(JSON.parse(text))
    }),
    { numRuns: 20_000 },
  )
})

it('different parts never share a template key or a derived key [R24] [R21]', () => {
  const part = fc.oneof(
    fc.string({ minLength: 1, maxLength: 6 }),
    fc.constantFrom('a', 'a:b', ':', '%3A', 'b:', '/'),
  )
  fc.assert(
    fc.property(part, part, part, part, (a, b, c, d) => {
      const equal = a === c && b === d
      expect(intentKey`${a}:${b}` === intentKey`${c}:${d}`).toBe(equal)
      expect(derive(a, b) === derive(c, d)).toBe(equal)
    }),
    RUNS,
  )
})
