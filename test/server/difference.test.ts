/** What may be said about two payloads of one key: names and lengths, and never what was in them. */
import { describe, expect, test } from 'vitest'
import { requestText } from '../../src/guards/http/request-text.js'
import { createIbid } from '../../src/ibid.js'
import { difference } from '../../src/server/difference.js'
import { knowingFirst } from '../../src/server/first-payloads.js'
import { memoryStore } from '../../src/stores/memory/index.js'

const SECRET = 'sk_live_51Hq8aBcD'

function request(body: string, more: { query?: string; type?: string; path?: string } = {}): string {
  const { query = '', type = 'application/json', path = '/refunds' } = more
  const header = (name: string): string | undefined => (name === 'content-type' ? type : undefined)
  const exchange = { method: 'POST', path, query, header, body: () => Buffer.from(body), request: undefined }
  const compare = type === 'application/json' ? 'json' : 'bytes'
  return requestText(exchange, Buffer.from(body), { compare, identity: undefined })
}

describe('the words', () => {
  test.each([
    ['one field', { a: 1, b: 2 }, { a: 1, b: 3 }, 'differs in b'],
    ['fields that come and go', { a: 1, b: [1] }, { a: 1, c: { d: 1 } }, 'differs in b, c'],
    ['inside a field', { a: { deep: 1 } }, { a: { deep: 2 } }, 'differs in a'],
    ['names that are data', { 'ada@example.com': 1 }, { 'bob@example.com': 1 }, 'differs in 2 of its fields'],
    ['some of each', { x: 1, 'a b': 1 }, { x: 2, 'a b': 2 }, 'differs in x and 1 more'],
    ['texts', 'one', 'two', 'differs in the text'],
    ['lists', [1], [2], 'differs in the list'],
    ['kinds', { a: 1 }, [1], 'is list, was object'],
    ['nothing', null, { a: 1 }, 'is object, was nothing'],
    ['a JSON body', request('{"amount":1}'), request('{"amount":2}'), 'differs in body (amount)'],
    ['a query', request('{}'), request('{}', { query: 'dry=1' }), 'differs in query'],
    [
      'type and body',
      request('a=1', { type: 'text/plain' }),
      request('a=12', { type: 'text/html' }),
      'differs in content type, body (4 bytes, was 3)',
    ],
    [
      'bodies of one length',
      request('a=1', { type: 'text/plain' }),
      request('a=2', { type: 'text/plain' }),
      'differs in body (3 bytes, as before)',
    ],
    [
      'long bodies',
      request('a'.repeat(5_000), { type: 'text/plain' }),
      request('b'.repeat(5_000), { type: 'text/plain' }),
      'differs in body',
    ],
    [
      'JSON that is compared by its bytes',
      request('{"a":1,"b":2}', { type: 'text/plain' }),
      request('{"b":3,"a":1}', { type: 'text/plain' }),
      'differs in body (b)',
    ],
    [
      'the same JSON in other bytes',
      request('{"a":1}', { type: 'text/plain' }),
      request('{ "a": 1 }', { type: 'text/plain' }),
      'differs in body (the same fields, written otherwise)',
    ],
    ['paths', request('{}'), request('{}', { path: '/refunds/7' }), 'differs in path'],
  ])('%s', (_name, first, second, words) => {
    expect(difference(first, second)).toBe(words)
  })

  test('no value gets in, wherever it stands', () => {
    const secrets = [
      [{ token: SECRET }, { token: `${SECRET}2` }],
      [{ [`${SECRET} `]: 1 }, { other: 1 }],
      [SECRET, `${SECRET}2`],
      [[SECRET], [1]],
      [request(`{"a":"${SECRET}"}`), request('{"a":"b"}')],
      [request(SECRET, { type: 'text/plain' }), request('x', { type: 'text/plain' })],
      [request('{}', { query: `key=${SECRET}` }), request('{}')],
      [request('{}', { type: `a/b; c=${SECRET}` }), request('{}')],
    ]
    for (const [first, second] of secrets) {
      expect(difference(first, second)).not.toContain(SECRET)
      expect(difference(second, first)).not.toContain(SECRET)
    }
  })
})

const open = () => knowingFirst(createIbid({ store: memoryStore(), housekeeping: false, cache: false }))

describe('which payloads are held', () => {
  const where = { tenant: 'acme', scope: 's', key: 'k' }
  async function whyOf(ibid: ReturnType<typeof open>, payload: unknown, identity?: { ignore: string[] }) {
    const again = ibid.claim({ ...where, payload, ...(identity && { identity }) })
    await expect(again).rejects.toMatchObject({ code: 'KEY_REUSED' })
    return (await ibid.history(where)).findLast(({ event }) => event === 'conflict')?.why
  }

  test('those of claims and of effects', async () => {
    const claiming = open()
    await claiming.claim({ ...where, payload: { a: 1, b: 1 } })
    expect(await whyOf(claiming, { a: 2, b: 1 })).toMatch(/^came as 1:\S+; differs in a$/)
    const running = open()
    await running.once({ ...where, payload: { a: 1, b: 1 } }, () => 1)
    expect(await whyOf(running, { a: 1, b: 2 })).toMatch(/; differs in b$/)
  })

  test('what is left out of the fingerprint is no difference', async () => {
    const ibid = open()
    await ibid.claim({ ...where, payload: { a: 1, reason: 'x' }, identity: { ignore: ['reason'] } })
    expect(await whyOf(ibid, { a: 2, reason: 'y' }, { ignore: ['reason'] })).toMatch(/; differs in a$/)
  })

  test('not a long one, not one that another server claimed, not one that was replaced', async () => {
    const long = open()
    await long.claim({ ...where, payload: { a: 'x'.repeat(5_000) } })
    expect(await whyOf(long, { a: 1 })).toMatch(/^came as 1:\S+$/)
    const store = memoryStore()
    const [here, there] = [1, 2].map(() =>
      knowingFirst(createIbid({ store, housekeeping: false, cache: false })),
    ) as [ReturnType<typeof open>, ReturnType<typeof open>]
    const first = await here.claim({ ...where, payload: { a: 1 } }, { window: '1ms' })
    expect(first.claimed).toBe(true)
    const token = first.claimed ? first.token : ''
    await here.settle({ ...where, token }, { as: 'succeeded' })
    await expect.poll(() => there.get(where)).toBeUndefined()
    await there.claim({ ...where, payload: { b: 1 } })
    expect(await whyOf(here, { c: 1 })).toMatch(/^came as 1:\S+$/)
    expect(await whyOf(there, { c: 1, b: 1 })).toMatch(/; differs in c$/)
  })

  test('no more than a few thousand', async () => {
    const ibid = open()
    await ibid.claim({ ...where, payload: { a: 1 } })
    for (let i = 0; i < 2_000; i++) await ibid.claim({ ...where, key: `k${i}`, payload: { a: 1 } })
    expect(await whyOf(ibid, { a: 2 })).toMatch(/^came as 1:\S+$/)
  })
})
