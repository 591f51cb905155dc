/** Forgetting comes to an end when nothing is left, and not before: also where events are dropped as whole entries. */
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createIbid } from '../../src/index.js'
import type { Store } from '../../src/store.js'
import { draft, SHORT_MS } from '../../src/testing/store/drafts.js'
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
