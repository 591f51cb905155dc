import { describe, expect, it } from 'vitest'
import { checkAddress, checkIntent } from '../../src/core/intent.js'
import type { Address } from '../../src/core/receipt.js'
import { refusal } from '../key/refusal.js'

const address = { tenant: 'acme', scope: 'refund', key: 'k' }

it('takes names of 1 to 255 characters [R1]', () => {
  checkAddress(address)
  checkAddress({ tenant: 'ä', scope: 'http:POST /refunds', key: '😀'.repeat(127) })
  const longest = 'x'.repeat(255)
  checkAddress({ tenant: longest, scope: longest, key: longest })
})

it('an intent without a tenant is an error that names it [R1]', () => {
  const error = refusal(() => checkAddress({ scope: 'refund', key: 'k' } as Address))
  expect(error.message).toContain('tenant is missing')
  expect(error.action).toContain('createIbid({ tenant })')
})

it('a scope or a key that is no string is asked for as one [R1]', () => {
  for (const field of ['scope', 'key'] as const)
    expect(refusal(() => checkAddress({ ...address, [field]: 5 })).action).toBe(`give ${field} as a string`)
})

describe('refuses, naming the field', () => {
  it.each<[object, string]>([
    [{ scope: undefined }, 'scope is missing'],
    [{ key: null }, 'key is not a string but null'],
    [{ key: 5 }, 'key is not a string but number'],
    [{ key: '' }, 'key has 0 characters'],
    [{ tenant: 'x'.repeat(256) }, 'tenant has 256 characters'],
    [{ scope: 'x'.repeat(256) }, 'scope has 256 characters'],
    [{ key: 'x'.repeat(256) }, 'key has 256 characters'],
    [{ key: '\n' }, 'key has a control character'],
    [{ key: '\u001f' }, 'key has a control character'],
    [{ key: 'a\u007f' }, 'key has a control character'],
    [{ tenant: 'a\nb' }, 'tenant has a control character'],
    [{ scope: '\u0085' }, 'scope has a control character'],
    [{ scope: '\u2028' }, 'scope has a control character'],
    [{ key: '\ud800' }, 'key has a control character or half a surrogate pair'],
  ])('%o [R1]', (change, message) => {
    expect(refusal(() => checkAddress({ ...address, ...change })).message).toContain(message)
  })
})

it('an intent has no other members than those that there are, whoever it inherits from', () => {
  expect(() =>
    checkIntent({ tenant: 'a', scope: 's', key: 'k', payload: 1, identity: {}, by: 'b', differs: 1 }),
  ).not.toThrow()
  expect(refusal(() => checkIntent({ scope: 's', paylod: 1 })).message).toContain(
    'paylod is not an option of an intent',
  )
  expect(refusal(() => checkIntent({ paylod: 1 })).message).toContain('paylod')
  expect(() => checkIntent(Object.create({ from: 'a class' }) as object)).not.toThrow()
})
