import { describe, expect, it } from 'vitest'
import { identityText } from '../../src/key/fingerprint.js'
import type { Identity } from '../../src/key/identity.js'
import { refusal } from './refusal.js'

const order = {
  id: 'o_1',
  reason: 'broken',
  meta: { trace: 't1', source: 'web' },
  items: [
    { sku: 'a', note: 'first' },
    { sku: 'b', note: 'second' },
  ],
}

describe('ignore', () => {
  it('leaves out fields, nested ones and ones in every item, and changes nothing [R23]', () => {
    const before = structuredClone(order)
    const text = identityText(order, { ignore: ['reason', 'meta.trace', 'items.*.note', 'not.there'] })
    expect(text).toBe('{"id":"o_1","items":[{"sku":"a"},{"sku":"b"}],"meta":{"source":"web"}}')
    expect(order).toEqual(before)
  })

  it('takes a list of segments for names that hold dots [R23]', () => {
    const payload = { 'a.b': 1, a: { b: 2, c: 3 } }
    expect(identityText(payload, { ignore: [['a.b']] })).toBe('{"a":{"b":2,"c":3}}')
    expect(identityText(payload, { ignore: ['a.b'] })).toBe('{"a":{"c":3},"a.b":1}')
  })

  it('lets overlapping paths add up [R23]', () => {
    const payload = { a: { x: 1, y: 2, z: 3 }, b: { x: 1, y: 2 } }
    expect(identityText(payload, { ignore: ['*.x', 'a.y', 'a.x'] })).toBe('{"a":{"z":3},"b":{"y":2}}')
    expect(identityText(payload, { ignore: ['*.x', 'a.y'] })).toBe('{"a":{"z":3},"b":{"y":2}}')
    expect(identityText(payload, { ignore: ['a', 'a.x'] })).toBe('{"b":{"x":1,"y":2}}')
    expect(identityText(payload, { ignore: ['*'] })).toBe('{}')
  })

  it('keeps the place of an ignored item: length counts [R23]', () => {
    expect(identityText([{ a: 1 }, { a: 2 }], { ignore: ['0'] })).toBe('[{"$ibid":"undefined"},{"a":2}]')
    expect(identityText({ tags: ['x', 'y'] }, { ignore: ['tags.0'] })).toBe(
      '{"tags":[{"$ibid":"undefined"},"y"]}',
    )
    expect(identityText(['x', 'y'], { ignore: ['*'] })).not.toBe(identityText(['x'], { ignore: ['*'] }))
  })

  it('reaches into what toJSON gives, and leaves scalars, Maps and Dates on the way whole [R23]', () => {
    const call = { toJSON: (): object => ({ id: 1, at: 2 }) }
    class Call {
      readonly toJSON = call.toJSON
    }
    expect(identityText({ call: new Call() }, { ignore: ['call.at'] })).toBe('{"call":{"id":1}}')
    expect(identityText({ a: 5, b: new Date(0) }, { ignore: ['a.x', 'b.x'] })).toBe(
      '{"a":5,"b":{"$ibid":"date","v":0}}',
    )
  })

  it('never looks at an ignored value: an unsafe integer there does not matter [R23]', () => {
    expect(identityText({ id: 1, at: 2 ** 60 }, { ignore: ['at'] })).toBe('{"id":1}')
  })

  it('may be empty [R23]', () => {
    expect(identityText({ a: 1 }, { ignore: [] })).toBe('{"a":1}')
  })
})

describe('include', () => {
  it('keeps only the named fields [R23]', () => {
    expect(identityText(order, { include: ['id', 'items.*.sku', 'meta.source'] })).toBe(
      '{"id":"o_1","items":[{"sku":"a"},{"sku":"b"}],"meta":{"source":"web"}}',
    )
    expect(identityText(order, { include: ['meta'] })).toBe('{"meta":{"source":"web","trace":"t1"}}')
  })

  it('keeps the length of an array that it goes through [R23]', () => {
    const identity = { include: ['id', 'items.*.sku'] }
    const two = identityText({ id: 1, items: [{ sku: 'a' }, 5] }, identity)
    expect(two).toBe('{"id":1,"items":[{"sku":"a"},{"$ibid":"undefined"}]}')
    expect(identityText({ id: 1, items: [{ sku: 'a' }] }, identity)).not.toBe(two)
    expect(identityText({ id: 1, items: new Map([['sku', 'a']]) }, identity)).toBe(
      '{"id":1,"items":{"$ibid":"undefined"}}',
    )
  })

  it.each<[string, unknown, Identity]>([
    ['no field is there', { a: 1 }, { include: ['b'] }],
    ['the field is undefined', { b: undefined }, { include: ['b'] }],
    ['the path stops short', { a: 5 }, { include: ['a.b'] }],
    ['the payload is a scalar', 5, { include: ['a'] }],
    ['the list is empty', { a: 1 }, { include: [] }],
  ])('that matches nothing is refused: %s [R23]', (_name, payload, identity) => {
    expect(refusal(() => identityText(payload, identity)).message).toContain(
      'identity.include matches nothing',
    )
  })
})

describe('a malformed identity is refused, naming the field', () => {
  it('but a thousand paths are none too many [R23]', () => {
    const ignore = Array(1_000).fill('a') as string[]
    expect(identityText({ a: 1, b: 2 }, { ignore })).toBe(identityText({ b: 2 }))
  })

  it.each<[unknown, string]>([
    [null, 'identity has no declaration'],
    [5, 'identity has no declaration'],
    [{}, 'identity has no declaration'],
    [{ ignored: ['a'] }, 'identity has ignored'],
    [{ toString: [] }, 'identity has toString'],
    [{ ignore: ['a'], include: ['b'] }, 'identity has ignore, include'],
    [{ ignore: 'reason' }, 'identity.ignore is not a list'],
    [{ ignore: Array(1_001).fill('a') }, 'identity.ignore is not a list of up to 1000 paths'],
    [{ ignore: ['a', 'b..c'] }, 'identity.ignore[1] is not a path'],
    [{ ignore: [''] }, 'identity.ignore[0] is not a path'],
    [{ include: [[]] }, 'identity.include[0] is not a path'],
    [{ include: [['a', 5]] }, 'identity.include[0] is not a path'],
    [{ include: [null] }, 'identity.include[0] is not a path'],
    [{ schema: null }, 'identity.schema is not an object'],
  ])('%j [R23]', (identity, message) => {
    expect(refusal(() => identityText({ a: 1 }, identity as Identity)).message).toContain(message)
  })
})

it('is read once: the same identity object gives the same lens [R23]', () => {
  const identity = { ignore: ['reason'] }
  expect(identityText({ id: 1, reason: 'a' }, identity)).toBe(identityText({ id: 1, reason: 'b' }, identity))
})
