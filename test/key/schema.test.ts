import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { identityText } from '../../src/key/fingerprint.js'
import type { JsonSchema } from '../../src/key/identity.js'
import { refusal } from './refusal.js'

const MARKED = { type: 'string', non_idempotent: true }
const text = (payload: unknown, schema: JsonSchema): string => identityText(payload, { schema })

const branchesAt = (...keywords: string[]): JsonSchema =>
  Object.fromEntries(keywords.map((keyword) => [keyword, { properties: { note: MARKED } }]))

describe('a mark in a JSON Schema', () => {
  it('leaves a property out, nested and in items [R23]', () => {
    const schema = {
      type: 'object',
      properties: {
        reason: MARKED,
        amount: { type: 'number', non_idempotent: false },
        to: { properties: { note: MARKED } },
        items: { type: 'array', items: { properties: { note: MARKED } } },
      },
    }
    const payload = {
      reason: 'x',
      amount: 5,
      to: { id: 1, note: 'n' },
      items: [{ sku: 'a', note: 'n' }],
      other: 1,
    }
    expect(text(payload, schema)).toBe('{"amount":5,"items":[{"sku":"a"}],"other":1,"to":{"id":1}}')
  })

  it('is found behind $ref, in $defs and definitions, with escaped names [R23]', () => {
    const schema = {
      $defs: { Note: MARKED, 'a/b': { properties: { x: { $ref: '#/definitions/c~0d%20e' } } } },
      definitions: { 'c~d e': MARKED },
      properties: { note: { $ref: '#/$defs/Note' }, deep: { $ref: '#/$defs/a~1b' } },
    }
    expect(text({ note: 'n', deep: { x: 1, y: 2 } }, schema)).toBe('{"deep":{"y":2}}')
    const broken = { $defs: { '100%': MARKED }, properties: { note: { $ref: '#/$defs/100%' } } }
    expect(text({ id: 1, note: 'n' }, broken)).toBe('{"id":1}')
  })

  it('works in a recursive schema, to any depth [R23]', () => {
    const schema = { properties: { note: MARKED, child: { $ref: '#' } } }
    expect(text({ id: 1, note: 'a', child: { id: 2, note: 'b', child: { note: 'c' } } }, schema)).toBe(
      '{"child":{"child":{},"id":2},"id":1}',
    )
  })

  it.each<[string, object]>([
    ['anyOf', { $ref: '#/$defs/Term' }],
    ['oneOf', { anyOf: [{ $ref: '#/$defs/Term' }, { type: 'null' }] }],
    ['allOf', { allOf: [{ $ref: '#/$defs/Term' }, { $ref: '#/$defs/Term' }] }],
  ])('is looked for once a level where the ways of %s meet again [R23]', (keyword, left) => {
    const branch = { properties: { left }, patternProperties: { '^note$': MARKED } }
    const copies = Array.from({ length: 3 }, () => structuredClone(branch))
    const schema = { $defs: { Term: { [keyword]: copies } }, properties: { left } }
    let payload: object = { note: 'n' }
    for (let level = 0; level < 8; level++) payload = { note: 'n', left: payload }
    const asked = vi.spyOn(RegExp.prototype, 'test')
    onTestFinished(() => asked.mockRestore())
    expect(text({ left: payload }, schema)).not.toContain('note')
    expect(asked.mock.calls.length).toBeLessThan(400)
  })

  it('is looked for no longer at the bottom of a recursive schema than at its top [R23]', () => {
    const branch = { properties: { left: { $ref: '#/$defs/Term' }, note: MARKED } }
    const schema = { $defs: { Term: { anyOf: [branch, structuredClone(branch)] } }, $ref: '#/$defs/Term' }
    const followed = vi.spyOn(Map.prototype, 'has')
    onTestFinished(() => followed.mockRestore())
    function stepsTo(depth: number): number {
      let payload: object = { note: 'n' }
      for (let level = 0; level < depth; level++) payload = { note: 'n', left: payload }
      followed.mockClear()
      expect(text(payload, structuredClone(schema))).not.toContain('note')
      return followed.mock.calls.length
    }
    const [few, many] = [stepsTo(20), stepsTo(40)]
    expect(few).toBeGreaterThan(20)
    expect(many).toBeLessThan(few * 2.5)
  })

  it('in some of the branches of a branch is none where another branch has it not [R23]', () => {
    const marked = { properties: { note: MARKED } }
    const unmarked = { properties: { note: { type: 'string' } } }
    const nested = { anyOf: [marked, structuredClone(marked)] }
    expect(text({ note: 'n' }, { anyOf: [nested, unmarked] })).toBe('{"note":"n"}')
    expect(text({ note: 'n' }, { anyOf: [nested, marked] })).toBe('{}')
    expect(text({ note: 'n' }, { anyOf: [nested] })).toBe('{}')
  })

  it('on a schema that has branches is one, whatever they say [R23]', () => {
    const either = { non_idempotent: true, anyOf: [{ type: 'string' }, { type: 'null' }] }
    expect(text({ id: 1, note: 'n' }, { properties: { note: either } })).toBe('{"id":1}')
  })

  it('is one wherever its schema is used, the second time as the first [R23]', () => {
    const schema = {
      $defs: { Note: { anyOf: [MARKED, structuredClone(MARKED)] } },
      properties: { a: { $ref: '#/$defs/Note' }, b: { allOf: [{ $ref: '#/$defs/Note' }, {}] } },
    }
    expect(text({ a: 'x', b: 'y', id: 1 }, schema)).toBe('{"id":1}')
  })

  it('in allOf counts beside another description [R23]', () => {
    const schema = { properties: { n: { type: 'string' } }, allOf: [{ properties: { n: MARKED } }, true] }
    expect(text({ n: 'x', id: 1 }, schema)).toBe('{"id":1}')
    expect(text({ n: 'x', id: 1 }, { properties: { n: { allOf: [{}, { non_idempotent: true }] } } })).toBe(
      '{"id":1}',
    )
  })

  it('is not made by two descriptions that carry none [R23]', () => {
    const twice = { properties: { n: { type: 'string' } }, allOf: [{ properties: { n: {} } }] }
    expect(text({ n: 'x', id: 1 }, twice)).toBe('{"id":1,"n":"x"}')
  })

  it.each(['anyOf', 'oneOf'])('in %s does not count where a branch allows anything [R23]', (keyword) => {
    const schema = { [keyword]: [{ properties: { note: true } }, { properties: { note: MARKED } }] }
    expect(text({ id: 1, note: 'x' }, schema)).toBe('{"id":1,"note":"x"}')
  })

  it.each(['anyOf', 'oneOf'])('in %s counts only when every branch agrees [R23]', (keyword) => {
    const branches = (...notes: object[]): JsonSchema => ({
      [keyword]: notes.map((note) => ({ properties: { note } })),
    })
    expect(text({ id: 1, note: 'x' }, branches(MARKED, MARKED))).toBe('{"id":1}')
    expect(text({ id: 1, note: 'x' }, branches(MARKED, { type: 'string' }))).toBe('{"id":1,"note":"x"}')
    expect(
      text({ id: 1, note: 'x' }, { [keyword]: [{ properties: { note: MARKED } }, { properties: {} }] }),
    ).toBe('{"id":1}')
    expect(text({ note: 'x' }, { properties: { note: { [keyword]: [MARKED, { type: 'null' }] } } })).toBe(
      '{}',
    )
    expect(text({ note: 'x' }, { properties: { note: { [keyword]: [{ type: 'null' }] } } })).toBe(
      '{"note":"x"}',
    )
  })

  it('in then and else counts like in branches [R23]', () => {
    expect(text({ note: 'x' }, branchesAt('then', 'else'))).toBe('{}')
    expect(text({ note: 'x' }, branchesAt('then'))).toBe('{}')
    expect(text({ note: 'x' }, branchesAt('else'))).toBe('{}')
  })

  it('on additionalProperties spares the declared ones; on patternProperties it follows the pattern [R23]', () => {
    const schema = {
      properties: { id: {}, open: true },
      patternProperties: { '^x-': MARKED, '^free': true, '^xx': {} },
      additionalProperties: MARKED,
    }
    expect(text({ id: 1, open: 2, 'x-trace': 3, free: 4, xx: 5, more: 6 }, schema)).toBe(
      '{"free":4,"id":1,"open":2,"xx":5}',
    )
    const both = { properties: { 'x-a': {} }, patternProperties: { '^x-': MARKED } }
    expect(text({ 'x-a': 1 }, both)).toBe('{}')
  })

  it('on tuple items holds for their place, in both spellings [R23]', () => {
    const gone = '{"$ibid":"undefined"}'
    expect(text([1, 2, 3], { prefixItems: [{}, MARKED, true], items: {} })).toBe(`[1,${gone},3]`)
    expect(text([1, 2, 3], { items: [{}, MARKED], additionalItems: MARKED })).toBe(`[1,${gone},${gone}]`)
    expect(text([1, 2], { items: false })).toBe('[1,2]')
  })

  it('on the rest of a tuple spares a place that may hold anything, in both spellings [R23]', () => {
    const gone = '{"$ibid":"undefined"}'
    expect(text([1, 2], { prefixItems: [true], items: MARKED })).toBe(`[1,${gone}]`)
    expect(text([1, 2], { items: [true], additionalItems: MARKED })).toBe(`[1,${gone}]`)
  })

  it('is not seen where there is no description [R23]', () => {
    expect(text({ a: { b: 1 } }, true)).toBe('{"a":{"b":1}}')
    expect(text({ a: 'non_idempotent' }, { properties: { non_idempotent: {} } })).toBe(
      '{"a":"non_idempotent"}',
    )
  })
})

describe('a schema that cannot be followed is refused, naming the place', () => {
  it.each<[JsonSchema, string]>([
    [{ non_idempotent: true }, 'identity.schema is marked non_idempotent as a whole'],
    [
      { properties: { a: { non_idempotent: 'yes' } } },
      'identity.schema.properties.a.non_idempotent is not true or false',
    ],
    [{ properties: [] }, 'identity.schema.properties is not an object'],
    [{ properties: { a: 5 } }, 'identity.schema.properties.a is not an object'],
    [{ allOf: {} }, 'identity.schema.allOf is not a list'],
    [{ anyOf: [null] }, 'identity.schema.anyOf[0] is not an object'],
    [{ patternProperties: { '(': {} } }, 'identity.schema.patternProperties.( is not a regular expression'],
    [{ $ref: 'https://example.com/schema' }, 'identity.schema.$ref leads nowhere'],
    [{ $ref: '#anchor' }, 'identity.schema.$ref leads nowhere'],
    [{ $ref: '#/$defs/Gone' }, 'identity.schema.$ref leads nowhere'],
    [{ $ref: '#/$defs/%E0%A4%A' }, 'identity.schema.$ref leads nowhere'],
    [{ $defs: 5, $ref: '#/$defs/Gone' }, 'identity.schema.$ref leads nowhere'],
    [{ $ref: '#/toString' }, 'identity.schema.$ref leads nowhere'],
    [{ $ref: 5 }, 'identity.schema.$ref leads nowhere'],
    [{ $ref: '#' }, 'identity.schema refers to itself without end'],
    [{ anyOf: [{ allOf: [{ $ref: '#' }] }] }, 'identity.schema refers to itself without end'],
    [
      {
        $defs: { A: { allOf: [{ $ref: '#' }] } },
        properties: { x: { $ref: '#/$defs/A' } },
        oneOf: [{ $ref: '#/$defs/A' }],
      },
      'identity.schema refers to itself without end',
    ],
  ])('%j [R23]', (schema, message) => {
    expect(refusal(() => text({ a: 1 }, schema)).message).toContain(message)
  })
})
