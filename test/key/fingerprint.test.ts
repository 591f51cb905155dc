import { describe, expect, it } from 'vitest'
import { fingerprint, fingerprintOfText, identityText } from '../../src/key/fingerprint.js'
import { parseStrict } from '../../src/key/parse.js'
import { refusal } from './refusal.js'

const distinct = (...payloads: unknown[]): void => {
  expect(new Set(payloads.map((payload) => fingerprint(payload))).size).toBe(payloads.length)
}

it('is versioned, and stays what it is from release to release [R4] [R22]', () => {
  expect(fingerprint({ payment: 'p1', amount: 10 })).toBe('1:9V2zb3LrwM3m-_FSIJlixcQO9UEkJgKTWXXUu_a-J2k')
  expect(fingerprint(undefined)).toMatch(/^1:[\w-]{43}$/)
})

it('is the hash of the identity text, which a cache can compare instead [R22]', () => {
  const identity = { ignore: ['reason'] }
  const payload = { a: 1, reason: 'x' }
  expect(fingerprint(payload, identity)).toBe(fingerprintOfText(identityText(payload, identity)))
  expect(fingerprint(payload, identity)).toBe(fingerprint({ a: 1, reason: 'y' }, identity))
  expect(fingerprint(payload)).not.toBe(fingerprint(payload, identity))
})

describe('key order, 10 against 10.0 and unicode escapes do not change it', () => {
  it.each([
    ['{"a":1,"b":{"c":2,"d":3}}', '{"b":{"d":3,"c":2},"a":1}'],
    ['{"n":10}', '{"n":10.0}'],
    ['{"n":10}', '{"n":1e1}'],
    ['{"n":0}', '{"n":-0}'],
    ['{"s":"\u00e9"}', '{"s":"\\u00e9"}'],
    ['{"s":"/"}', '{"\\u0073":"\\/"}'],
  ])('%s and %s [R22]', (one, other) => {
    expect(fingerprint(parseStrict(one))).toBe(fingerprint(parseStrict(other)))
  })
})

describe('two different payloads never share one', () => {
  it('9007199254740993 and 9007199254740992 never share a fingerprint (powertools-ts 2.35) [R22]', () => {
    const unsafe = Number('9007199254740993')
    expect(unsafe).toBe(9007199254740992)
    expect(refusal(() => fingerprint({ items: [{ id: unsafe }] })).message).toContain(
      'payload.items[0].id is 9007199254740992, past the integers that a double tells apart',
    )
    expect(refusal(() => fingerprint({ id: -unsafe })).action).toContain('string or a bigint')
    expect(refusal(() => parseStrict('{"id":9007199254740993}')).message).toContain('payload.id')
    distinct(
      { id: '9007199254740993' },
      { id: '9007199254740992' },
      { id: 9007199254740993n },
      { id: 9007199254740992n },
    )
    expect(fingerprint(Number.MAX_SAFE_INTEGER)).not.toBe(fingerprint(Number.MIN_SAFE_INTEGER))
  })

  it('1e400 and null never share a fingerprint (powertools-ts 2.35) [R22]', () => {
    expect(refusal(() => fingerprint(JSON.parse('{"a":1e400}'))).message).toContain('payload.a is Infinity')
    expect(refusal(() => parseStrict('{"a":1e400}')).message).toContain('payload.a')
  })

  it('__proto__ present and absent never share a fingerprint (powertools-ts 2.35) [R22]', () => {
    distinct(JSON.parse('{"a":1,"__proto__":{"admin":true}}'), { a: 1 }, JSON.parse('{"a":1,"__proto__":{}}'))
  })

  it('fields without delimiters: ab + c is not a + bc (Convoy) [R22]', () => {
    distinct(
      { x: 'ab', y: 'c' },
      { x: 'a', y: 'bc' },
      ['ab', 'c'],
      ['a', 'bc'],
      ['abc'],
      'abc',
      ['a,b'],
      ['a', 'b'],
    )
  })

  it('names are sorted the same in every locale (spliit-cloud#68) [R22]', () => {
    expect(identityText({ z: 1, ä: 2, a: 3, Z: 4, i: 5, ı: 6, I: 7 })).toBe(
      '{"I":7,"Z":4,"a":3,"i":5,"z":1,"ä":2,"ı":6}',
    )
  })

  it('values that only look alike are kept apart [R22]', () => {
    distinct(
      1,
      '1',
      1n,
      true,
      'true',
      null,
      'null',
      undefined,
      [],
      {},
      '',
      [null],
      [undefined],
      [[]],
      { a: null },
      0,
    )
    distinct(new Date(0), 0, '1970-01-01T00:00:00.000Z', { $ibid: 'date', v: 0 }, { $$ibid: 'date', v: 0 })
    distinct(new Map([['a', 1]]), { a: 1 }, [['a', 1]], new Map([['a', 2]]), new Set([['a', 1]]))
    distinct(new Uint8Array([1]), new Uint8Array([2]), [1], new Set([1]), 'AQ==', new Uint16Array([1]))
    distinct('\u00e9', 'e\u0301')
  })
})
