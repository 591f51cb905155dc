/** A duplicate gets the first result, not something like it. */
import { expect, test } from 'vitest'
import { bench, failure, INTENT } from './bench.js'

const VALUES: readonly (readonly [string, unknown])[] = [
  ['undefined', undefined],
  ['null', null],
  ['a string', 'grün'],
  ['nothing', ''],
  ['NaN', Number.NaN],
  ['minus zero', -0],
  ['infinity', Number.NEGATIVE_INFINITY],
  ['a date', new Date(86_400_000)],
  ['no date', new Date(Number.NaN)],
  ['a bigint', 9_007_199_254_740_993n],
  ['bytes', new Uint8Array([0, 255, 128])],
  [
    'a map',
    new Map<unknown, unknown>([
      [1, new Date(0)],
      ['k', new Map([[null, undefined]])],
    ]),
  ],
  ['a set', new Set([1n, 'a', Number.NaN])],
  ['deep', { a: [undefined, { b: [1, 2n, new Date(5)] }], c: { d: null } }],
  ['members that look like our tags', { $ibid: 'date', v: 5, nested: { $$ibid: 1 } }],
]

test.each(VALUES)('[R5] replays %s exactly, from the cache and from the store', async (_name, value) => {
  const on = bench()
  const ibid = on.open()
  const first = await ibid.once(INTENT, () => value)
  expect(first).toMatchObject({ replayed: false })
  expect(first.value).toBe(value)
  for (const engine of [ibid, ibid, on.open(), on.open({ cache: false })]) {
    const again = await engine.once(INTENT, () => 'no')
    expect(again.replayed).toBe(true)
    expect(again.value).toStrictEqual(value)
  }
  expect((await ibid.get(INTENT))?.value).toStrictEqual(value)
})

test('[R5] what a caller does to its value reaches nobody else', async () => {
  const on = bench()
  const ibid = on.open()
  const value = { list: [1], at: { when: 1 } }
  const first = await ibid.once(INTENT, () => value)
  first.value.list.push(2)
  value.at.when = 9
  for (let i = 0; i < 3; i++) {
    const again = await ibid.once(INTENT, () => value)
    expect(again.value).toEqual({ list: [1], at: { when: 1 } })
    again.value.list.push(7)
    again.value.at.when = 7
  }
})

test('[R5] what a caller does to a value that is not plain reaches nobody else either', async () => {
  const on = bench()
  const ibid = on.open()
  await ibid.once(INTENT, () => new Map([['a', [1]]]))
  for (let i = 0; i < 3; i++) {
    const { value } = await ibid.once(INTENT, () => new Map<string, number[]>())
    expect(value).toEqual(new Map([['a', [1]]]))
    value.get('a')?.push(2)
    value.clear()
  }
})

const cyclic: Record<string, unknown> = {}
cyclic['self'] = cyclic

test.each([
  ['too large', 'x'.repeat(1_000), /over the limit of 500/],
  ['one that contains itself', cyclic, /could not be written down/],
  [
    'one that cannot be read',
    {
      get bad(): never {
        throw new TypeError('no')
      },
    },
    /could not be written down/,
  ],
])(
  '[R5] a value that is %s: the first caller has it, a duplicate is told that it is done',
  async (_n, value, why) => {
    const on = bench({ maxOutcome: 500 })
    const ibid = on.open()
    let runs = 0
    const effect = (): unknown => {
      runs++
      return value
    }
    expect((await ibid.once(INTENT, effect)).value).toBe(value)
    for (const engine of [ibid, on.open()]) {
      const error = await failure(engine.once(INTENT, effect))
      expect(error).toMatchObject({ code: 'VALUE_NOT_RETAINED', retriable: false, replayed: true })
      expect(error.message).toMatch(why)
    }
    expect(runs).toBe(1)
    expect((await ibid.get(INTENT))?.state).toBe('succeeded')
  },
)

test('[R5] a replay says that it is one, with the receipt of the first', async () => {
  const on = bench()
  const ibid = on.open()
  const first = await ibid.once(INTENT, () => 1)
  await on.time.pass(5_000)
  const again = await ibid.once(INTENT, () => 2)
  expect(again.replayed).toBe(true)
  expect(again.receipt).toEqual(first.receipt)
  expect(JSON.stringify(again)).not.toContain('token')
})
