import { describe, expect, it } from 'vitest'
import { parseStrict } from '../../src/key/parse.js'
import { refusal } from './refusal.js'

describe('reads', () => {
  it.each([
    '0',
    '-0',
    '1.5e-3',
    '1E5',
    '333333333.33333329',
    '9007199254740991',
    '9007199254740992',
    '1e23',
    '0e9',
    '0.000',
    'true',
    'false',
    'null',
    '""',
    '"a\\u00e9\\n\\/\\ud83d\\ude00"',
    '"😀"',
    '"a b"',
    '[]',
    '{}',
    ' [ 1 , 2 ] ',
    ' { "a" : { "b" : [ null , { } ] } , "" : 0 } ',
    '{"constructor":1,"prototype":2,"toString":3}',
    '"\u2028\u007f"',
  ])('%s, like JSON.parse [R22]', (text) => {
    expect(parseStrict(text)).toEqual(JSON.parse(text))
    expect(parseStrict(new TextEncoder().encode(text))).toEqual(JSON.parse(text))
  })

  it('128 levels [R22]', () => {
    const text = '['.repeat(128) + ']'.repeat(128)
    expect(JSON.stringify(parseStrict(text))).toBe(text)
    const objects = `${'{"a":'.repeat(127)}{}${'}'.repeat(127)}`
    expect(JSON.stringify(parseStrict(objects))).toBe(objects)
  })
})

describe('refuses', () => {
  it.each([
    ['a duplicate name', '{"a":1,"b":{"c":1,"c":1}}', 'payload.b.c is there twice, at position 18'],
    ['a duplicate written with an escape', '{"a":1,"\\u0061":2}', 'payload.a is there twice, at position 7'],
    ['__proto__', '{"x":[{"__proto__":{}}]}', 'payload.x[0] has a member __proto__, at position 7'],
    ['__proto__ written with an escape', '{"\\u005f_proto__":{}}', 'payload has a member __proto__'],
    ['half a surrogate pair', '["a","\\ud800"]', 'payload[1] has half a surrogate pair, at position 5'],
    ['half a surrogate pair in a name', '{"\\udc00":1}', 'payload has half a surrogate pair, at position 1'],
    ['a raw half pair in a string', '"\ud800"', 'payload has half a surrogate pair'],
    [
      '2^53 + 1',
      '{"id":9007199254740993}',
      'payload.id is an integer that a double would change, at position 6',
    ],
    ['-(2^53 + 1)', '-9007199254740993', 'an integer that a double would change'],
    ['10^23 in digits', '100000000000000000000000', 'an integer that a double would change'],
    [
      '1e400 (powertools-ts 2.35)',
      '[1e400]',
      'payload[0] is a number that no double can hold, at position 1',
    ],
    ['-1e400', '-1e400', 'a number that no double can hold'],
    ['1e-400', '1e-400', 'a number that no double can hold'],
    ['0.1e-400', '-0.1e-400', 'a number that no double can hold'],
    ['129 levels', '['.repeat(129), 'is nested deeper than 128 levels, at position 128'],
    ['129 levels of objects', '{"a":'.repeat(129), 'is nested deeper than 128 levels'],
    ['a byte order mark', '\ufeff{}', 'starts with a byte order mark, at position 0'],
    ['something after the value', '{} x', 'it has "x" where JSON cannot have it, at position 3'],
    ['a second value', '1 2', 'it has "2" where'],
    ['nothing', '', 'it has the end of the text where JSON cannot have it, at position 0'],
    ['only space', ' \n', 'the end of the text'],
    ['a trailing comma', '[1,]', 'it has "]" where'],
    ['a trailing comma in an object', '{"a":1,}', 'it has "}" where'],
    ['a missing colon', '{"a" 1}', 'it has "1" where'],
    ['a missing comma', '[1 2]', 'it has "2" where'],
    ['an open object', '{"a":1', 'the end of the text'],
    ['an open array', '[1', 'the end of the text'],
    ['an open string', '"abc', 'the end of the text'],
    ['an open escape', '"abc\\', 'the end of the text'],
    ['a name without quotes', '{a:1}', 'it has "a" where'],
    ['single quotes', "'a'", 'where JSON cannot have it'],
    ['a raw line break in a string', '"a\nb"', 'it has "\\n" where JSON cannot have it, at position 2'],
    ['an unknown escape', '["\\x41"]', 'an escape that JSON does not know, at position 1'],
    ['a short unicode escape', '"\\u12"', 'an escape that JSON does not know'],
    ['a leading zero', '01', 'it has "1" where'],
    ['a leading plus', '+1', 'it has "+" where'],
    ['a bare minus', '-', 'where JSON cannot have it'],
    ['a bare point', '1.', 'it has "." where'],
    ['hexadecimal', '0x10', 'it has "x" where'],
    ['NaN', 'NaN', 'it has "N" where'],
    ['a misspelt literal', 'nul', 'it has "n" where'],
    ['a comment', '/* */1', 'it has "/" where'],
    ['a no-break space', '\u00a01', 'where JSON cannot have it'],
  ])('%s [R22]', (_name, text, message) => {
    expect(refusal(() => parseStrict(text)).message).toContain(message)
  })

  it('bytes that are not UTF-8, and a byte order mark in bytes [R22]', () => {
    expect(refusal(() => parseStrict(new Uint8Array([34, 0xff, 34]))).message).toContain(
      'payload is not UTF-8',
    )
    expect(refusal(() => parseStrict(new Uint8Array([0xed, 0xa0, 0x80]))).message).toContain('not UTF-8')
    expect(refusal(() => parseStrict(new Uint8Array([0xef, 0xbb, 0xbf, 48]))).message).toContain(
      'byte order mark',
    )
  })

  it('a long string or number as fast as a short one [R22]', () => {
    expect(parseStrict(`"${'x'.repeat(5_000_000)}"`)).toHaveLength(5_000_000)
    expect(refusal(() => parseStrict('9'.repeat(1_000_000))).message).toContain('no double can hold')
  })
})
