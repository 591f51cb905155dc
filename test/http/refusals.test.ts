/** What a handler says with a refusal, or a person with a resolution: it is answered, and again, whatever it is. */
import { describe, expect, test } from 'vitest'
import { OutcomeUnknown, Rejected } from '../../src/index.js'
import { guarded } from './fetch.js'
import { unhandled } from './listen.js'

const circle: { self?: object } = {}
circle.self = circle

const DATA: readonly (readonly [what: string, data: unknown, shown: unknown])[] = [
  ['a BigInt', { amount: 10n }, { amount: '10' }],
  ['a date', { at: new Date(0) }, { at: '1970-01-01T00:00:00.000Z' }],
]

const refuses = (error: Rejected) => (): never => {
  throw error
}

describe('a refusal', () => {
  test.each(DATA)(
    'with %s in its data is answered, and again as it was [R5] [R35]',
    async (_what, data, shown) => {
      const lost = unhandled()
      const { post } = guarded({}, refuses(new Rejected('no', { data })))
      const first = await (await post('k1')).text()
      expect(JSON.parse(first)).toMatchObject({ code: 'REJECTED', data: shown })
      expect([await (await post('k1')).text(), lost]).toEqual([first, []])
    },
    5_000,
  )

  test('with data that has no JSON is answered all the same, and again as it was [R5] [R35]', async () => {
    const { post } = guarded({}, refuses(new Rejected('no', { data: circle })))
    const first = await (await post('k1')).text()
    expect(first).toContain('REJECTED')
    expect(await (await post('k1')).text()).toBe(first)
  }, 5_000)

  test('has no time to come again, at first as in its replay [R5]', async () => {
    const { post } = guarded({}, refuses(new Rejected('no', { retryAfterMs: 5_000 })))
    const first = await (await post('k1')).text()
    expect(first).not.toContain('retryAfterMs')
    expect(await (await post('k1')).text()).toBe(first)
  })
})

test('a person may resolve a receipt with what has no JSON: it is answered [R14]', async () => {
  const lost = unhandled()
  const { post, ibid } = guarded({}, () => {
    throw new OutcomeUnknown('the bank did not answer')
  })
  await post('k1')
  const where = { scope: 'http:POST /refunds', key: 'k1' }
  await ibid.resolve(where, { as: 'succeeded', value: { amount: 10n } }, { by: 'mina', why: 'looked it up' })
  expect(await (await post('k1')).json()).toEqual({ amount: '10' })
  expect(lost).toEqual([])
}, 5_000)

test('a refusal whose code is one of ours is the handler’s all the same [R5] [R9]', async () => {
  const { post } = guarded({}, refuses(new Rejected('the account is closed', { code: 'CLOSED' })))
  for (let i = 0; i < 2; i++) {
    const answer = await post('k1')
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([422, null])
    expect(await answer.json()).toMatchObject({ detail: 'the account is closed', retriable: false })
  }
})

test.each(['constructor', 'toString', '__proto__'])(
  'a refusal whose code is %s, as every object has one, is a refusal like others [R5] [R35]',
  async (code) => {
    const { post } = guarded({}, refuses(new Rejected('no', { code })))
    for (let i = 0; i < 2; i++) {
      const answer = await post('k1')
      expect(answer.status).toBe(422)
      expect(await answer.json()).toMatchObject({ code, detail: 'no', title: 'The request was refused' })
    }
  },
)

test('a server that shuts down asks for the same request again, in words for its client [R35]', async () => {
  const { post, ibid } = guarded()
  await ibid.close()
  const answer = await post('k1')
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1'])
  expect(await answer.json()).toMatchObject({
    code: 'CLOSED',
    retriable: true,
    action: 'send the same request with the same key again',
  })
})
