/** The audit log over HTTP: from a time on, newest first, by event; and what it says of conflicts and held receipts. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Caller, caller, openHouse, type Served } from './bench.js'
import { openOrigin } from './origin.js'

interface Event {
  readonly event: string
  readonly key: string
  readonly at: number
  readonly state: string | null
  readonly fingerprint: string
  readonly count: number
  readonly by?: string
  readonly why?: string
}
interface Log {
  readonly events: readonly Event[]
  readonly cursor?: string
}

let close = async (): Promise<void> => {}
let served: Served
let call: Caller
let keyId: string

beforeAll(async () => {
  const house = openHouse((end) => (close = end))
  served = await house.serve()
  call = caller(served.url, await house.newKey('acme'))
  keyId = (await call<{ keyId: string }>('/v1/me')).body.keyId
})
afterAll(() => close())

async function read(query: string): Promise<readonly Event[]> {
  const events: Event[] = []
  let cursor: string | undefined
  for (;;) {
    const next: string = cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`
    const { status, body } = await call<Log>(`/v1/log?${query}${next}`)
    expect(status).toBe(200)
    events.push(...body.events)
    if (body.cursor === undefined || (body.cursor === cursor && body.events.length === 0)) return events
    if (body.events.length === 0 && !query.includes('newest')) return events
    cursor = body.cursor
  }
}

const claim = (scope: string, key: string, payload: unknown = {}) =>
  call<{ token: string }>('/v1/claims', { scope, key, payload })

describe('[R50] the log', () => {
  test('oldest first, newest first, from a time on, and by event, page by page', async () => {
    const scope = 'paged'
    for (let i = 0; i < 6; i++) {
      const { body } = await claim(scope, `k${i}`)
      await call('/v1/claims/settle', { scope, key: `k${i}`, token: body.token })
    }
    const all = await read(`scope=${scope}&limit=5`)
    expect(all.map(({ event, key }) => `${event} ${key}`)).toEqual(
      [0, 1, 2, 3, 4, 5].flatMap((i) => [`claimed k${i}`, `settled k${i}`]),
    )
    expect(await read(`scope=${scope}&limit=5&order=newest`)).toEqual(all.toReversed())
    const since = all[7]?.at as number
    const late = all.filter(({ at }) => at >= since)
    expect(await read(`scope=${scope}&since=${since}`)).toEqual(late)
    const iso = new Date(since).toISOString()
    expect(await read(`scope=${scope}&since=${iso}&order=newest&limit=2`)).toEqual(late.toReversed())
    const settled = await read(`scope=${scope}&event=settled,held&limit=2&order=newest`)
    expect(settled.map(({ key }) => key)).toEqual(['k5', 'k4', 'k3', 'k2', 'k1', 'k0'])
  })

  test.each(['order=up', 'since=yesterday', 'event=claimed,nothing', 'event=', 'order=newest&order=newest'])(
    'what it cannot read is named: %s',
    async (query) => {
      const { status, body } = await call<{ code: string; detail: string }>(`/v1/log?${query}`)
      expect([status, body.code]).toEqual([400, 'INVALID_INTENT'])
      expect(body.detail).toContain(query.split('=')[0])
    },
  )
})

describe('[R4] [R50] a conflict over the API', () => {
  test('has both fingerprints, who asked, and the fields that differ, but nothing of what is in them', async () => {
    const secret = 'sk_live_do_not_show'
    const first = await claim('tool:refund', 'c1', { payment: 'pay_1', amount: 10, card: secret })
    for (const _ of [1, 2])
      expect(
        (await claim('tool:refund', 'c1', { payment: 'pay_1', amount: 11, card: `${secret}2` })).status,
      ).toBe(422)
    await call('/v1/claims/settle', { scope: 'tool:refund', key: 'c1', token: first.body.token })
    expect((await claim('tool:refund', 'c1', { payment: 'pay_1', amount: 12, card: secret })).status).toBe(
      422,
    )
    const events = (await read('scope=tool:refund&key=c1')).filter(({ event }) => event === 'conflict')
    expect(events).toMatchObject([
      { state: 'pending', count: 2, by: `key ${keyId}` },
      { state: 'succeeded', count: 1, by: `key ${keyId}` },
    ])
    expect(events[0]?.why).toMatch(/^came as 1:[\w-]{43}; differs in amount, card$/)
    expect(events[1]?.why).toMatch(/^came as 1:[\w-]{43}; differs in amount$/)
    expect(new Set(events.map(({ fingerprint }) => fingerprint)).size).toBe(1)
    expect(JSON.stringify(events)).not.toContain(secret)
  })

  test('through the proxy, the parts of the request that differ', async () => {
    const origin = await openOrigin()
    const house = openHouse()
    const proxy = await house.serve('--upstream', origin.url, '--proxy-port', '0')
    const send = async (body: string, query = ''): Promise<number> => {
      const headers = { 'idempotency-key': 'p1', 'content-type': 'application/json' }
      const response = await fetch(`${proxy.proxyUrl}/refunds${query}`, { method: 'POST', headers, body })
      return response.status
    }
    expect(await send('{"amount":1,"to":"ada"}')).toBe(201)
    expect(await send('{"amount":2,"to":"ada"}')).toBe(422)
    expect(await send('{"amount":1,"to":"ada"}', '?now=1')).toBe(422)
    const all = caller(proxy.url, proxy.key)
    const { body } = await all<Log>('/v1/log?event=conflict')
    expect(body.events.map(({ why }) => why?.replace(/^came as 1:\S+; /, ''))).toEqual([
      'differs in body (amount)',
      'differs in query',
    ])
    expect(origin.seen).toHaveLength(1)
  })
})

test('[R50] [R14] who met a held receipt is in its story', async () => {
  const { body } = await claim('tool:refund', 'h1')
  await call('/v1/claims/hold', { scope: 'tool:refund', key: 'h1', token: body.token, why: 'timed out' })
  for (const _ of [1, 2, 3]) expect((await claim('tool:refund', 'h1')).status).toBe(409)
  const { body: story } = await call<Log>('/v1/receipt/history?scope=tool:refund&key=h1')
  expect(story.events.map(({ event, state, count }) => [event, state, count])).toEqual([
    ['claimed', 'pending', 1],
    ['held', 'unknown', 1],
    ['in_flight', 'unknown', 3],
  ])
})
