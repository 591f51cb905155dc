/** What is remembered is no answer to a payload of another fingerprint, nor to one that comes after the window. */
import { expect, test } from 'vitest'
import { bench, failure, INTENT, turn } from './bench.js'

class Rows extends Array<string> {
  toJSON(): object {
    return { table: 'refunds', rows: [...this] }
  }
}

const hidden = Object.defineProperty({ b: 2 }, 'a', { value: 1, enumerable: false })
const listLike = Object.assign(Object.create(Array.prototype) as object, { 0: 'x', length: 1 })
let reads = 0
const fickle = {
  get n() {
    return reads++ < 1 ? 0 : 7
  },
}

test.each([
  ['a list with a toJSON of its class', Rows.from(['x']), ['x']],
  ['a hidden member', { a: 1 }, hidden],
  ['what only looks like a list', ['x'], listLike],
  ['a member that all objects have', { x: 1 }, { toString: Object.prototype.toString }],
  ['a member that is nothing', { b: 1 }, { a: undefined }],
])('[R4, R13] %s: what is remembered is no answer to another payload', async (_, first, later) => {
  const ibid = bench().open()
  for (let i = 0; i < 3; i++) await ibid.once({ ...INTENT, payload: first }, () => 'first')
  await failure(ibid.once({ ...INTENT, payload: later }, () => 'never'))
})

test('[R4, R13] a payload that reads otherwise the second time is not remembered as what it was first', async () => {
  const ibid = bench().open()
  await ibid.once({ ...INTENT, payload: { n: 0 } }, () => 'first')
  await ibid.once({ ...INTENT, payload: { n: 0 } }, () => 'never')
  expect((await ibid.once({ ...INTENT, payload: fickle }, () => 'never')).value).toBe('first')
  expect(await failure(ibid.once({ ...INTENT, payload: { n: 7 } }, () => 'never'))).toMatchObject({
    code: 'KEY_REUSED',
  })
})

test('[R11, R13] an answer that came late makes no window longer', async () => {
  const on = bench()
  const arrivals: (() => void)[] = []
  const store = {
    ...on.store,
    async claim(wanted: Parameters<typeof on.store.claim>[0]) {
      const answer = await on.store.claim(wanted)
      if (answer.some(({ won }) => !won)) await new Promise<void>((resolve) => arrivals.push(resolve))
      return answer
    },
  }
  const ibid = on.open({ store })
  const brief = { window: '1s' } as const
  await ibid.once(INTENT, () => 'one', brief)
  const late = ibid.once(INTENT, () => 'no', brief)
  await turn()
  await on.time.pass(900)
  arrivals.shift()?.()
  expect((await late).value).toBe('one')
  await on.time.pass(100)
  const next = ibid.once(INTENT, () => 'two', brief)
  await turn()
  arrivals.shift()?.()
  expect((await next).value).toBe('two')
})
