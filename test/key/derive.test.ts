import { describe, expect, it } from 'vitest'
import { deriveKey, type KeyParts } from '../../src/key/derive.js'
import { refusal } from './refusal.js'

const parts = { tenant: 'acme', layer: 'tool', run: 'r1', step: 3 }

it('is the same for the same action, whatever the order of parts and members [R20] [R21]', () => {
  const key = deriveKey(parts, { a: 1, b: 2 })
  expect(deriveKey({ step: 3, run: 'r1', layer: 'tool', tenant: 'acme' }, { b: 2, a: 1 })).toBe(key)
  expect(key).toBe('k1:Ru2oJHE1RQudJwB2v04nUcV20_GoivHnQ3rhxhQ7tBY')
})

it('fits everywhere a key goes, however long what it is made of [R21]', () => {
  const key = deriveKey({ ...parts, prompt: 'x'.repeat(10_000) }, { big: 'y'.repeat(10_000) })
  expect(key).toMatch(/^k1:[\w-]{43}$/)
})

it('differs when tenant, layer, a part, a type or the payload does: nothing runs into anything [R21]', () => {
  const all: [KeyParts, unknown][] = [
    [parts, 1],
    [parts, '1'],
    [parts, undefined],
    [{ ...parts, tenant: 'acm', layer: 'etool' }, 1],
    [{ ...parts, layer: 'http' }, 1],
    [{ ...parts, run: 'r', step: 13 }, 1],
    [{ ...parts, step: '3' }, 1],
    [{ ...parts, step: 3n }, 1],
    [{ ...parts, step: true }, 1],
    [{ ...parts, step: Number.MAX_SAFE_INTEGER }, 1],
    [{ ...parts, step: Number.MIN_SAFE_INTEGER }, 1],
    [{ tenant: 'acme', layer: 'tool', run: 'r1' }, 1],
    [{ tenant: 'acme', layer: 'tool', run: 'r1', stepp: 3 }, 1],
    [{ tenant: 'acme', layer: 'tool', run: 'r1","step":3,"x":"' }, 1],
  ]
  expect(new Set(all.map(([one, payload]) => deriveKey(one, payload))).size).toBe(all.length)
})

it('leaves out what the identity leaves out [R21] [R23]', () => {
  const identity = { ignore: ['reason'] }
  expect(deriveKey(parts, { a: 1, reason: 'x' }, identity)).toBe(
    deriveKey(parts, { a: 1, reason: 'y' }, identity),
  )
})

describe('refuses, naming the field', () => {
  it.each<[unknown, string]>([
    [undefined, 'the parts of the key are missing'],
    [null, 'the parts of the key are missing'],
    [{ layer: 'tool' }, 'tenant is missing'],
    [{ tenant: '', layer: 'tool' }, 'tenant is missing'],
    [{ tenant: 5, layer: 'tool' }, 'tenant is missing'],
    [{ tenant: 'acme' }, 'layer is missing'],
    [{ ...parts, run: undefined }, 'part "run" of the key is undefined'],
    [{ ...parts, run: null }, 'part "run" of the key is null'],
    [{ ...parts, run: '' }, 'part "run" of the key is empty'],
    [{ ...parts, run: '\ud800' }, 'part "run" of the key is text with half a surrogate pair'],
    [{ ...parts, run: Number.NaN }, 'part "run" of the key is NaN'],
    [{ ...parts, run: 2 ** 53 }, 'part "run" of the key is 9007199254740992, not a safe number'],
    [{ ...parts, run: {} }, 'part "run" of the key is of type object'],
    [{ ...parts, run: () => 1 }, 'part "run" of the key is of type function'],
  ])('%o [R1] [R21]', (given, message) => {
    expect(refusal(() => deriveKey(given as KeyParts, {})).message).toContain(message)
  })
})
