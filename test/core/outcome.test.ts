import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { NotExecuted, OutcomeUnknown, Rejected } from '../../src/core/errors.js'
import { decodeOutcome, encodeError, encodeValue, isPlainOutcome } from '../../src/core/outcome.js'
import { fromTagged, isPlain, toTagged } from '../../src/core/tagged.js'

const ROOM = 1_000_000
const again = (value: unknown): unknown => {
  const outcome = decodeOutcome(encodeValue(value, ROOM))
  return outcome.kind === 'value' ? outcome.value : outcome
}

const rich = fc.anything({
  withBigInt: true,
  withDate: true,
  withMap: true,
  withSet: true,
  withTypedArray: false,
  withSparseArray: false,
  withNullPrototype: false,
  key: fc.oneof(fc.constantFrom('$ibid', '$$ibid', 'v', 'a', 'value', 'rich', 'lost'), fc.string()),
})

describe('a replay gets the same value', () => {
  it('whatever it is made of [R5]', () => {
    fc.assert(
      fc.property(rich, (value) => {
        expect(again(value)).toStrictEqual(value)
      }),
      { numRuns: 2_000 },
    )
  })

  it.each<[string, unknown]>([
    ['undefined', undefined],
    ['-0', -0],
    ['NaN', { a: Number.NaN, b: [Number.NEGATIVE_INFINITY] }],
    ['a Date', { at: new Date(5), never: new Date(Number.NaN) }],
    ['bytes', new Uint8Array([0, 255])],
    ['data that looks like a tag', { $ibid: 'date', v: 5, x: { $$ibid: 1 } }],
    ['a Map of Sets', new Map([[{ k: 1 }, new Set([1n])]])],
    ['half a surrogate pair', 'a\ud800'],
    ['__proto__', JSON.parse('{"__proto__":{"a":1},"b":2}')],
  ])('%s [R5]', (_name, value) => {
    expect(again(value)).toStrictEqual(value)
  })

  it('with the words of an Error in it, and what else it had to say [R5]', async () => {
    const declined = Object.assign(new TypeError('declined'), { code: 'CARD', at: new Date(5) })
    const first = await Promise.allSettled([Promise.reject(declined), Promise.resolve(1)])
    const [failed, done] = again(first) as PromiseSettledResult<number>[]
    const { reason } = failed as PromiseRejectedResult
    expect(reason).toBeInstanceOf(Error)
    expect(reason).toMatchObject({ name: 'TypeError', message: 'declined', code: 'CARD', at: new Date(5) })
    expect([String(reason), Object.keys(reason as object)]).toEqual(['TypeError: declined', ['code', 'at']])
    expect(done).toEqual(first[1])
    expect(again(new Rejected('no', { code: 'CARD' }))).toMatchObject({ code: 'CARD', message: 'no' })
  })

  it('of a primitive that was wrapped [R5]', () => {
    expect(again([Object(5), Object('ab'), Object(false)])).toStrictEqual([5, 'ab', false])
  })

  it('as plain data where it was a class, a typed array, a function or a hole [R5]', () => {
    expect(again(new URL('https://a.example/'))).toBe('https://a.example/')
    expect(again({ n: Buffer.from([1]), u: new Uint8Array([1]).buffer })).toEqual({
      n: new Uint8Array([1]),
      u: new Uint8Array([1]),
    })
    expect(again([() => 1, Symbol('s')])).toStrictEqual([undefined, undefined])
    expect(again({ keep: 1, drop: () => 1 })).toStrictEqual({ keep: 1 })
    expect(again({ toJSON: 'text' })).toStrictEqual({ toJSON: 'text' })
    expect(again(Array(2))).toStrictEqual([undefined, undefined])
    expect(again(Object.assign(Object.create(null), { a: 1 }))).toStrictEqual({ a: 1 })
  })

  it('and plain JSON is stored as it is, to be read by people [R5]', () => {
    expect(encodeValue({ a: [1, 'x', null, true] }, ROOM)).toBe('{"value":{"a":[1,"x",null,true]}}')
    expect(isPlainOutcome(encodeValue({ a: 1 }, ROOM))).toBe(true)
    expect(isPlainOutcome(encodeValue(new Date(0), ROOM))).toBe(false)
    expect(isPlain(() => 1)).toBe(false)
  })
})

describe('encoding never throws: by then the effect has happened', () => {
  const cyclic: Record<string, unknown> = {}
  cyclic['self'] = cyclic
  it.each<[string, unknown, string]>([
    ['a cycle', cyclic, 'nested deeper than 200 levels, or contains itself'],
    [
      'a getter that throws',
      {
        get a(): never {
          throw new TypeError('no')
        },
      },
      'could not be written down: no',
    ],
    [
      'a getter that throws text',
      {
        get a(): never {
          // oxlint-disable-next-line typescript/only-throw-error
          throw 'no'
        },
      },
      'it cannot be read',
    ],
    ['too long', 'x'.repeat(100), 'its 112 characters are over the limit of 50'],
  ])('%s is settled as done, not retained [R5]', (_name, value, why) => {
    expect(decodeOutcome(encodeValue(value, 50))).toEqual({
      kind: 'lost',
      why: expect.stringContaining(why) as string,
    })
  })
})

it('a value that just fits is kept, and one that is a character longer is not [R5]', () => {
  expect(encodeValue(1, 11)).toBe('{"value":1}')
  expect(decodeOutcome(encodeValue(1, 10)).kind).toBe('lost')
})

describe('a terminal failure', () => {
  it('is given again as it was, marked as a replay [R5] [R9]', () => {
    const error = new Rejected('declined', {
      code: 'CARD',
      action: 'ask',
      data: { at: new Date(1), n: 1n, $ibid: 2 },
    })
    const outcome = decodeOutcome(encodeError(error, ROOM))
    expect(outcome).toMatchObject({
      kind: 'error',
      error: { code: 'CARD', message: 'declined', action: 'ask' },
    })
    expect(outcome.kind === 'error' && outcome.error).toMatchObject({
      data: error.data,
      replayed: true,
      retriable: false,
    })
  })

  it('with data that looks like a tag gives the data back [R5]', () => {
    const outcome = decodeOutcome(encodeError(new Rejected('no', { data: { $ibid: 'date', v: 5 } }), ROOM))
    expect(outcome.kind === 'error' && outcome.error.data).toStrictEqual({ $ibid: 'date', v: 5 })
  })

  it('without data has none afterwards [R5]', () => {
    const text = encodeError(new Rejected('no', { code: 'NO', action: 'stop' }), ROOM)
    expect(text).toBe('{"error":{"code":"NO","message":"no","action":"stop"}}')
    const outcome = decodeOutcome(text)
    expect(outcome.kind === 'error' && outcome.error.data).toBeUndefined()
  })

  it('whose options have no value is the usual one, first and again [R5]', () => {
    const unsaid = { code: undefined, action: undefined } as object
    const { code, action } = new Rejected('no', unsaid)
    expect([code, action]).toEqual(['REJECTED', new Rejected('no').action])
    expect([new NotExecuted('no', unsaid).code, new OutcomeUnknown('no', unsaid).code]).toEqual([
      'NOT_EXECUTED',
      'OUTCOME_UNKNOWN',
    ])
    expect(decodeOutcome(encodeError(new Rejected('no', unsaid), ROOM))).toMatchObject({
      error: { code, action },
    })
  })

  it('with a code that is no text, and too large to keep, is kept all the same [R5]', () => {
    const error = new Rejected('no', { code: 402 as unknown as string, data: 'x'.repeat(500) })
    expect(decodeOutcome(encodeError(error, 300))).toMatchObject({ error: { code: '402', message: 'no' } })
  })

  it('too large to keep keeps its code and its words [R5]', () => {
    const error = new Rejected(`m${'n'.repeat(5_000)}`, {
      code: `c${'d'.repeat(200)}`,
      action: `a${'b'.repeat(5_000)}`,
      data: 'x',
    })
    const outcome = decodeOutcome(encodeError(error, 2_000))
    expect(outcome.kind === 'error' && outcome.error).toMatchObject({
      code: `c${'d'.repeat(99)}`,
      message: `m${'n'.repeat(999)}`,
      action: `a${'b'.repeat(999)}`,
    })
  })
})

it('a tag of a kind that this version does not know reads as undefined [R5]', () => {
  expect(fromTagged({ $ibid: 'later', v: 1 })).toBeUndefined()
  expect(toTagged(undefined)).toStrictEqual({ $ibid: 'undefined' })
})
