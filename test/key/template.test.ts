import { describe, expect, it } from 'vitest'
import * as key from '../../src/key/index.js'
import { intentKey } from '../../src/key/template.js'
import { refusal } from './refusal.js'

it('makes keys that people can read [R24]', () => {
  expect(intentKey`${'wf_81'}:${3}:refund`).toBe('wf_81:3:refund')
  expect(intentKey`wf/${'a'}/step-${0}/${true}/${10n}`).toBe('wf/a/step-0/true/10')
  expect(intentKey`nightly`).toBe('nightly')
})

it('encodes parts, so that they never run into each other [R24]', () => {
  expect(intentKey`${'a:b'}:${'c'}`).toBe('a%3Ab:c')
  expect(intentKey`${'a'}:${'b:c'}`).toBe('a:b%3Ac')
  expect(intentKey`${'a%3Ab'}:${'c'}`).toBe('a%253Ab:c')
  expect(intentKey`${'\u0000 ä'}`).toBe('%00%20%C3%A4')
  expect(intentKey`${'ab'}:${'c'}`).not.toBe(intentKey`${'a'}:${'bc'}`)
})

describe('refuses', () => {
  const none = undefined as unknown as string
  it.each<[string, () => string, string]>([
    [
      'two holes with nothing between',
      () => intentKey`${'a'}${'b'}`,
      'parts 1 and 2 of the key are parted by ""',
    ],
    [
      'a separator that a part may hold',
      () => intentKey`${'a'}:${'b'}-${'c'}`,
      'parts 2 and 3 of the key are parted by "-"',
    ],
    ['a percent sign as separator', () => intentKey`${'a'}%${'b'}`, 'parted by "%"'],
    ['undefined', () => intentKey`${'a'}:${none}`, 'part 2 of the key is undefined'],
    ['null', () => intentKey`${null as unknown as string}`, 'part 1 of the key is null'],
    ['the empty string', () => intentKey`${''}:${'a'}`, 'part 1 of the key is empty'],
    ['NaN', () => intentKey`${Number.NaN}`, 'part 1 of the key is NaN'],
    ['an unsafe integer', () => intentKey`${2 ** 53}`, 'part 1 of the key is 9007199254740992'],
    ['an object', () => intentKey`${{} as unknown as string}`, 'part 1 of the key is of type object'],
    [
      'half a surrogate pair',
      () => intentKey`${'\ud800'}`,
      'part 1 of the key is text with half a surrogate pair',
    ],
    ['more than 255 characters', () => intentKey`${'x'.repeat(256)}`, 'key has 256 characters'],
    ['nothing at all', () => intentKey``, 'key has 0 characters'],
    ['a control character in the template', () => intentKey`a\n${'b'}`, 'key has a control character'],
    ['an escape that has no meaning', () => intentKey`\u${'b'}`, 'not used as a template tag'],
    ['a plain call', () => intentKey('a' as unknown as TemplateStringsArray), 'not used as a template tag'],
    [
      'a plain call with a list',
      () => intentKey(['a', 'b', 'c'] as unknown as TemplateStringsArray, 'x'),
      'template tag',
    ],
  ])('%s [R24]', (_name, work, message) => {
    expect(refusal(work).message).toContain(message)
  })
})

it('is listed with everything that ibid/key offers [R20]', () => {
  expect(Object.keys(key).toSorted()).toEqual([
    'canonicalJson',
    'deriveKey',
    'fingerprint',
    'fingerprintOfText',
    'identityText',
    'intentKey',
    'parseStrict',
  ])
})
