/** Receipts looked for over HTTP: by what they are, page by page, and the story of a key over all layers. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Caller, caller, openHouse } from './bench.js'

interface Claimed {
  readonly token: string
}

let close = async (): Promise<void> => {}
let call: Caller

beforeAll(async () => {
  const house = openHouse((end) => (close = end))
  const served = await house.serve()
  call = caller(served.url, await house.newKey('acme'))
})
afterAll(() => close())

describe('looking for receipts', () => {
  test('by scope, state, key, a part of the key and time, page by page', async () => {
    const scope = 'search'
    const claims = Array.from({ length: 25 }, (_, i) => ({ scope, key: `order-${i}` }))
    const { body } = await call<{ results: { token: string }[] }>('/v1/claims', { claims })
    await call('/v1/claims/settle', {
      claims: claims.slice(0, 10).map((one, i) => ({ ...one, token: body.results[i]?.token })),
    })
    const keysOf = async (query: string): Promise<string[]> => {
      const found: string[] = []
      let cursor: string | undefined
      do {
        const next = cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`
        const page: { body: { receipts: { key: string }[]; cursor?: string } } = await call(
          `/v1/receipts?scope=${scope}&limit=7&${query}${next}`,
        )
        found.push(...page.body.receipts.map((one) => one.key))
        cursor = page.body.cursor
      } while (cursor !== undefined)
      return found.sort()
    }
    const all = claims.map((one) => one.key).sort()
    expect(await keysOf('')).toEqual(all)
    expect(await keysOf('state=succeeded')).toHaveLength(10)
    expect(await keysOf('state=succeeded,pending')).toEqual(all)
    expect(await keysOf('key=order-3')).toEqual(['order-3'])
    expect(await keysOf('q=order-1')).toHaveLength(11)
    expect(await keysOf('since=2001-01-01T00:00:00Z')).toEqual(all)
    expect(await keysOf('until=2001-01-01T00:00:00Z')).toEqual([])
  })

  test('[R46] the story of a key is told over every layer that has a receipt for it', async () => {
    const key = 'over-layers'
    for (const scope of ['http:POST /refunds', 'run:refunds', 'tool:issue_refund']) {
      const { body } = await call<Claimed>('/v1/claims', { scope, key })
      await call('/v1/claims/settle', { scope, key, token: body.token })
    }
    const { body } = await call<{
      receipts: { scope: string }[]
      events: { scope: string; event: string; at: number }[]
    }>(`/v1/receipt/timeline?key=${key}`)
    expect(body.receipts.map((one) => one.scope)).toEqual([
      'http:POST /refunds',
      'run:refunds',
      'tool:issue_refund',
    ])
    expect(body.events).toHaveLength(6)
    expect(body.events.map((one) => one.at)).toEqual(body.events.map((one) => one.at).sort((a, b) => a - b))
  })
})
