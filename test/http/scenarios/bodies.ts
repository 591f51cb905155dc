/** Bodies: large, streamed, compressed, in parts, and no text at all. */
import { Agent } from 'node:http'
import { gunzipSync, gzipSync } from 'node:zlib'
import { expect } from 'vitest'
import { type Ask, call, fresh, whole } from '../client.js'
import { head, isProblem, type Scenario, sameResponse, twice } from './expectations.js'

export const BODIES: readonly Scenario[] = [
  [
    'large request: compared to the last byte; past the limit 413',
    async (site) => {
      const { key, mark } = fresh()
      const body = Buffer.alloc(3_000_000, 7)
      const headers = { 'content-type': 'application/octet-stream' }
      const ask = { key, path: `/act?mark=${mark}&do=size`, headers, body }
      const [first, again] = await twice(site, ask)
      sameResponse(first, again)
      expect(JSON.parse(first.text)).toMatchObject({ bytes: 3_000_000 })
      const other = Buffer.from(body)
      other[2_999_999] = 8
      isProblem(await call(site.port, { ...ask, body: other }), 422, 'KEY_REUSED')
      // On a connection that stays: one that the server closes at once breaks off a client that is still sending.
      const agent = new Agent({ keepAlive: true })
      const huge = await call(site.port, { ...ask, agent, key: fresh().key, body: Buffer.alloc(4_000_001) })
      agent.destroy()
      isProblem(huge, 413, 'TOO_LARGE')
      expect(site.effects(mark)).toBe(1)
    },
  ],
  [
    'large response: comes whole; a duplicate hears "completed, body not retained", never an empty replay',
    async (site) => {
      const { key, mark } = fresh()
      const [first, again] = await twice(site, { key, path: `/act?mark=${mark}&do=large&bytes=300000` })
      expect([first.status, first.body.length]).toEqual([201, 300_000])
      isProblem(again, 410, 'VALUE_NOT_RETAINED')
      expect(again.replayed).toBe(true)
      expect(site.effects(mark)).toBe(1)
    },
  ],
  ...(['stream', 'events'] as const).map((way): Scenario => [
    `${way === 'stream' ? 'stream' : 'server-sent events'}: sent while it is made, recorded, and replayed whole`,
    async (site) => {
      const { key, mark } = fresh()
      const ask = { key, path: `/act?mark=${mark}&do=${way}&gate=${mark}` }
      const response = await head(site, ask)
      expect(response.headers['content-type']).toMatch(way === 'stream' ? 'text/plain' : 'text/event-stream')
      // The handler stands at its gate behind the first piece: whatever arrives now was not held back.
      const early = await new Promise<Buffer>((resolve) => response.once('data', resolve))
      response.unshift(early)
      await site.begun(mark)
      site.open(mark)
      const first = await whole(response)
      expect(first.text.match(/^data: \d/gm)).toHaveLength(3)
      sameResponse(first, await call(site.port, ask))
      expect(site.effects(mark)).toBe(1)
    },
  ]),
  [
    'a stream past the cap: comes whole, and is not retained',
    async (site) => {
      const { key, mark } = fresh()
      const [first, again] = await twice(site, { key, path: `/act?mark=${mark}&do=stream&bytes=200000` })
      expect([first.status, first.body.length > 200_000]).toEqual([201, true])
      isProblem(again, 410, 'VALUE_NOT_RETAINED')
      expect(site.effects(mark)).toBe(1)
    },
  ],
  [
    'multipart: a form made anew has another boundary and is the same request; another part is not',
    async (site) => {
      const { key, mark } = fresh()
      const path = `/act?mark=${mark}&do=refund`
      const form = (boundary: string, note: string): Ask => ({
        key,
        path,
        headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
        body: [
          `--${boundary}`,
          'content-disposition: form-data; name="note"',
          '',
          note,
          `--${boundary}--`,
          '',
        ].join('\r\n'),
      })
      const first = await call(site.port, form('----one', 'hello'))
      sameResponse(first, await call(site.port, form('----another', 'hello')))
      isProblem(await call(site.port, form('----third', 'hallo')), 422, 'KEY_REUSED')
      expect(site.effects(mark)).toBe(1)
    },
  ],
  [
    'compressed: a request and a response, byte for byte',
    async (site) => {
      const { key, mark } = fresh()
      const headers = { 'content-type': 'application/octet-stream', 'content-encoding': 'gzip' }
      const ask = { key, path: `/act?mark=${mark}&do=gzip`, headers, body: gzipSync('hello') }
      const [first, again] = await twice(site, ask)
      sameResponse(first, again)
      expect(gunzipSync(again.body).length).toBe(36)
      isProblem(await call(site.port, { ...ask, body: gzipSync('hallo') }), 422, 'KEY_REUSED')
    },
  ],
  [
    'bytes that are no text, and no body at all, come again as they were',
    async (site) => {
      for (const way of ['bytes', 'empty']) {
        const { key, mark } = fresh()
        sameResponse(...(await twice(site, { key, path: `/act?mark=${mark}&do=${way}` })))
        const none = fresh()
        sameResponse(
          ...(await twice(site, {
            key: none.key,
            path: `/act?mark=${mark}&do=${way}`,
            body: '',
            headers: { 'content-type': 'text/plain' },
          })),
        )
      }
    },
  ],
  [
    'compared as JSON: order, spaces and declared fields do not count, amounts do [R22] [R23]',
    async (site) => {
      const { key, mark } = fresh()
      const path = `/json?mark=${mark}`
      const first = await call(site.port, { key, path, body: '{"amount":10,"to":"a","reason":"x"}' })
      sameResponse(
        first,
        await call(site.port, { key, path, body: '{ "to": "a", "reason": "y", "amount": 10.0 }' }),
      )
      isProblem(await call(site.port, { key, path, body: '{"amount":11,"to":"a"}' }), 422, 'KEY_REUSED')
    },
  ],
]
