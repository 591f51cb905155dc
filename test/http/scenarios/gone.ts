/** Clients that go away. */
import { expect } from 'vitest'
import { call, fresh, send } from '../client.js'
import type { Site } from '../site.js'
import { head, type Scenario } from './expectations.js'

/** A request of its own comes through, without the store: the server is past whatever was sent before. */
async function pass(site: Site): Promise<void> {
  for (let n = 0; n < 3; n++) expect((await call(site.port, { path: '/act' })).status).toBe(400)
}

/** The only receipt of a tenant, once it is no longer pending. */
async function endOf(site: Site, tenant: string): Promise<string> {
  for (;;) {
    const { text } = await call(site.port, { method: 'GET', path: `/receipts?tenant=${tenant}` })
    const [receipt] = JSON.parse(text) as { state: string }[]
    if (receipt && receipt.state !== 'pending') return receipt.state
  }
}

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
    'client gone while its claim is on its way: its handler does not begin, and the key is good [R9] [R61]',
    async (site) => {
      const { key, mark } = fresh()
      const ask = { key, path: `/act?mark=${mark}`, headers: { 'x-tenant': mark } }
      site.put('slow')
      const first = send(site.port, ask)
      first.on('error', () => {})
      await new Promise((resolve) => first.once('finish', resolve))
      await pass(site)
      first.destroy()
      await pass(site).finally(() => site.remove('slow'))
      expect([await endOf(site, mark), site.effects(mark)]).toEqual(['released', 0])
      const again = await call(site.port, ask)
      expect([again.status, again.replayed, site.effects(mark)]).toEqual([201, false, 1])
    },
  ],
  [
    'client gone while its claim is on its way, and its retry is waiting: the retry runs it [R6] [R61]',
    async (site) => {
      const { key, mark } = fresh()
      const ask = { key, path: `/act?mark=${mark}` }
      site.put('slow')
      const first = send(site.port, ask)
      first.on('error', () => {})
      await new Promise((resolve) => first.once('finish', resolve))
      await pass(site)
      const retry = call(site.port, ask)
      await pass(site)
      first.destroy()
      await pass(site).finally(() => site.remove('slow'))
      const got = await retry
      expect([got.status, got.replayed, site.effects(mark)]).toEqual([201, false, 1])
    },
  ],
  [
    'client gone while it waits for the result of another: nothing is sent to nobody, and the next gets it',
    async (site) => {
      const { key, mark } = fresh()
      const ask = { key, path: `/act?mark=${mark}&gate=${mark}` }
      const first = call(site.port, ask)
      await site.begun(mark)
      const waiting = send(site.port, ask)
      waiting.on('error', () => {})
      await new Promise((resolve) => waiting.once('finish', resolve))
      await pass(site)
      waiting.destroy()
      await pass(site)
      site.open(mark)
      expect(await first).toMatchObject({ status: 201, replayed: false })
      expect(await call(site.port, ask)).toMatchObject({ status: 201, replayed: true })
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
