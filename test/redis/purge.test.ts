/** Forgetting comes to an end when nothing is left, and not before: also where events are dropped as whole entries. */
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createIbid } from '../../src/index.js'
import type { Receipt } from '../../src/core/receipt.js'
import type { Store } from '../../src/store.js'
import { change, draft, HOUR_MS, SHORT_MS } from '../../src/testing/store/drafts.js'
import { withRedis } from './bench.js'

const bench = withRedis()

/** So many entries of the journal, of thirty events each. */
async function write(store: Store, entries: number): Promise<void> {
  for (let i = 0; i < entries; i++) await store.claim(Array.from({ length: 30 }, () => draft()))
  await sleep(SHORT_MS)
}

it.each([true, false])(
  '[R52] a sweep drops every old event, though no entry ends at its limit (audit: %s)',
  async (audit) => {
    const store = bench.open({ audit })
    await write(store, 20)
    const ibid = createIbid({ store, tenant: 'acme', housekeeping: false, auditWindow: '1ms' })
    expect(await ibid.sweep()).toMatchObject({ events: 600 })
    expect(await bench.server.cli('XLEN', `{${bench.prefix}:0}journal`)).toBe('0')
  },
)

it.each([
  [100, 1],
  [100, 4],
  [600, 1],
])('a purge of %i events drops as many, and at most one entry more, of %i shards', async (limit, shards) => {
  const store = bench.open({ shards })
  await write(store, 25)
  const { events } = await store.purge(limit, 1)
  expect(events).toBeGreaterThanOrEqual(limit)
  expect(events).toBeLessThan(limit + 32)
  expect((await store.audit({ limit: 1_000 })).events).toHaveLength(750 - events)
})

it.each(['already seen', 'not seen yet'])(
  '[R11, R52] a full server forgets what has ended, which its indexes have %s',
  async (seen) => {
    const store = bench.open()
    const drafts = Array.from({ length: 70 }, () => draft())
    await store.claim(drafts)
    const { receipts } = await store.get(drafts)
    await store.swap(receipts.map((receipt) => change(receipt as Receipt, 'succeeded', { forMs: SHORT_MS })))
    if (seen === 'already seen') await store.scan({ limit: 1 })
    await sleep(SHORT_MS * 2)
    await bench.server.cli('CONFIG', 'SET', 'maxmemory', '1mb')
    try {
      await expect(store.claim([draft()])).rejects.toThrow('OOM')
      expect(await store.purge(200, HOUR_MS)).toEqual({ receipts: 70, events: 0 })
    } finally {
      await bench.server.cli('CONFIG', 'SET', 'maxmemory', '0')
    }
    const { events } = await store.audit({ limit: 1_000 })
    const forgotten = events.filter(({ event }) => event === 'expired').map(({ key }) => key)
    expect(forgotten.toSorted()).toEqual(drafts.map(({ key }) => key).toSorted())
  },
)
