/** Duplicates: what the same key gets, at once, meanwhile and afterwards. */
import { Agent } from 'node:http'
import { expect } from 'vitest'
import { type Ask, BODY, call, fresh, type Got } from '../client.js'
import { isProblem, type Scenario, sameResponse, twice } from './expectations.js'

export const DUPLICATES: readonly Scenario[] = [
  [
    'fresh: the handler runs, and its response comes as it is [R40]',
    async (site) => {
      const { key, mark } = fresh()
      const got = await call(site.port, { key, path: `/act?mark=${mark}` })
      expect([got.status, got.replayed, site.effects(mark)]).toEqual([201, false, 1])
      expect(got.headers['set-cookie']).toHaveLength(1)
      expect(got.headers['x-dropped']).toBeDefined()
    },
  ],
  [
    'duplicate: the same status, bytes and safe headers, marked [R5] [R40]',
    async (site) => {
      const { key, mark } = fresh()
      const [first, again] = await twice(site, { key, path: `/act?mark=${mark}` })
      sameResponse(first, again)
      expect(site.effects(mark)).toBe(1)
    },
  ],
  [
    'every form of the header is the same key, and so is a query parameter [R40]',
    async (site) => {
      const { key, mark } = fresh()
      const bare = key.slice(1, -1)
      const path = `/act?mark=${mark}`
      const first = await call(site.port, { key, path })
      for (const headers of [
        { 'idempotency-key': bare },
        { 'idempotency-key': `${key};v=1` },
        { 'x-idempotency-key': bare },
        { 'x-idempotency-key': key, 'idempotency-key': bare },
      ]) {
        sameResponse(first, await call(site.port, { path, headers }))
      }
      const inQuery = await twice(site, { path: `/act?mark=${mark}-q&key=${bare}-q` })
      sameResponse(...inQuery)
      expect([site.effects(mark), site.effects(`${mark}-q`)]).toEqual([1, 1])
    },
  ],
  [
    '50 at once: one effect, one response, and the others get it again [R60]',
    async (site) => {
      const { key, mark } = fresh()
      const asks = Array.from({ length: 50 }, () => call(site.port, { key, path: `/act?mark=${mark}` }))
      const all = await Promise.all(asks)
      expect(new Set(all.map(({ text }) => text)).size).toBe(1)
      expect(all.filter(({ status }) => status !== 201)).toEqual([])
      expect(all.filter(({ replayed }) => !replayed)).toHaveLength(1)
      expect(site.effects(mark)).toBe(1)
    },
  ],
  [
    'another payload while the first is in flight: 422, and the first is not disturbed [R4]',
    async (site) => {
      const { key, mark } = fresh()
      const ask = { key, path: `/act?mark=${mark}&gate=${mark}` }
      const first = call(site.port, ask)
      await site.begun(mark)
      isProblem(await call(site.port, { ...ask, body: '{"amount":1}' }), 422, 'KEY_REUSED')
      site.open(mark)
      expect((await first).status).toBe(201)
      expect(site.effects(mark)).toBe(1)
    },
  ],
  [
    'another body, query, method or content type afterwards: 422 [R4]',
    async (site) => {
      const { key, mark } = fresh()
      const ask = { key, path: `/act?mark=${mark}` }
      await call(site.port, ask)
      const others: Ask[] = [
        { ...ask, body: BODY.replace('14000', '14001') },
        { ...ask, path: `/act?mark=${mark}&dry=1` },
        { ...ask, headers: { 'content-type': 'application/vnd.bank+json' } },
      ]
      for (const other of others) isProblem(await call(site.port, other), 422, 'KEY_REUSED')
      expect(site.effects(mark)).toBe(1)
    },
  ],
  [
    'in flight, told not to wait: 409 with Retry-After, and a place to ask [R6] [R40]',
    async (site) => {
      const { key, mark } = fresh()
      const ask = { key, path: `/nowait?mark=${mark}&gate=${mark}` }
      const first = call(site.port, ask)
      await site.begun(mark)
      const busy = await call(site.port, ask)
      isProblem(busy, 409, 'RETRY_IN_FLIGHT')
      expect(Number(busy.headers['retry-after'])).toBeGreaterThanOrEqual(1)
      const place = busy.headers.location as string
      expect(busy.headers.link).toBe(`<${place}>; rel="status"`)
      const state = async (headers = {}): Promise<unknown> =>
        JSON.parse((await call(site.port, { method: 'GET', path: place, headers })).text)
      expect(await state()).toMatchObject({ state: 'pending' })
      expect(await state({ 'x-tenant': 'other' })).toMatchObject({ code: 'NO_RECEIPT' })
      site.open(mark)
      await first
      expect(await state()).toMatchObject({ state: 'succeeded', response: { status: 201, retained: true } })
      expect(site.effects(mark)).toBe(1)
    },
  ],
  [
    'on one connection, many times over',
    async (site) => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 })
      const { key, mark } = fresh()
      const all: Got[] = []
      for (let i = 0; i < 10; i++) all.push(await call(site.port, { agent, key, path: `/act?mark=${mark}` }))
      const next = fresh()
      const other = await call(site.port, { agent, key: next.key, path: `/act?mark=${next.mark}` })
      agent.destroy()
      expect(all.map(({ status, replayed }) => [status, replayed])).toEqual([
        [201, false],
        ...Array.from({ length: 9 }, () => [201, true]),
      ])
      expect([other.status, other.replayed]).toEqual([201, false])
    },
  ],
  [
    "a client's own Idempotency-Replayed is ignored, even where the handler echoes it",
    async (site) => {
      const { key, mark } = fresh()
      const ask = { key, path: `/act?mark=${mark}`, headers: { 'idempotency-replayed': 'true' } }
      sameResponse(...(await twice(site, ask)))
    },
  ],
]
