/** Clients that go away. */
import { expect } from 'vitest'
import { call, fresh, send } from '../client.js'
import { head, type Scenario } from './expectations.js'

export const GONE: readonly Scenario[] = [
  [
    'client gone while the handler runs: its receipt is kept, and the duplicate gets the response [R61]',
    async (site) => {
      const { key, mark } = fresh()
      const ask = { key, path: `/act?mark=${mark}&gate=${mark}` }
      const first = send(site.port, ask)
      first.on('error', () => {})
      await site.begun(mark)
      first.destroy()
      const again = call(site.port, ask)
      site.open(mark)
      expect(await again).toMatchObject({ status: 201, replayed: true })
      expect(site.effects(mark)).toBe(1)
    },
  ],
  [
    'client gone in the middle of a stream: it is recorded to its end [R61]',
    async (site) => {
      const { key, mark } = fresh()
      const ask = { key, path: `/act?mark=${mark}&do=stream&gate=${mark}&bytes=50000` }
      const response = await head(site, ask)
      response.on('error', () => {})
      await new Promise((resolve) => response.once('data', resolve))
      await site.begun(mark)
      response.destroy()
      const again = call(site.port, ask)
      site.open(mark)
      const got = await again
      expect([got.status, got.replayed, got.text.match(/^data: \d/gm)?.length]).toEqual([201, true, 3])
      expect(got.body.length).toBeGreaterThan(50_000)
      expect(site.effects(mark)).toBe(1)
    },
  ],
  [
    'client gone before its body was complete: nothing runs, nothing is written',
    async (site) => {
      const { key, mark } = fresh()
      const ask = { key, path: `/act?mark=${mark}`, headers: { 'x-tenant': mark } }
      const cut = send(site.port, { ...ask, headers: { ...ask.headers, 'content-length': '1000' } })
      cut.on('error', () => {})
      await new Promise((resolve) => cut.once('finish', resolve))
      cut.destroy()
      // A request of its own comes through: the server is past the one that was cut.
      const next = fresh()
      await call(site.port, { key: next.key, path: `/act?mark=${next.mark}` })
      expect((await call(site.port, { method: 'GET', path: `/receipts?tenant=${mark}` })).text).toBe('[]')
      const got = await call(site.port, ask)
      expect([got.status, got.replayed, site.effects(mark)]).toEqual([201, false, 1])
    },
  ],
]
