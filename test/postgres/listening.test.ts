/** The connection that listens: one at a time, whatever breaks when, and none that `close` would wait for. */
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import type { Store } from '../../src/store.js'
import { postgresStore } from '../../src/stores/postgres/index.js'
import { withPostgres } from './bench.js'
import { openProxy } from './proxy.js'

const bench = withPostgres()

/** Breaks the connections of the first `cuts` that ask to listen, and counts all that ask. */
async function cutting(cuts: number): Promise<{ readonly url: string; readonly asked: () => number }> {
  let asked = 0
  const url = await openProxy(bench.server.url, () => (chunk, from) => {
    const isAsked = from === 'client' && chunk.includes('listen "ibid_')
    return isAsked && ++asked <= cuts ? Buffer.alloc(0) : undefined
  })
  return { url, asked: () => asked }
}

/** In a time in which nothing is waited for. */
async function closed(store: Store): Promise<void> {
  const late = sleep(5_000, 'late')
  expect(await Promise.race([store.close(), late])).toBeUndefined()
}

async function sessions(): Promise<number> {
  const rows = await bench.query(`select 1 from pg_stat_activity where application_name = 'ibid'`)
  return rows.length
}

async function untilNone(): Promise<void> {
  for (let tried = 1; (await sessions()) > 0; tried++) {
    expect(tried).toBeLessThan(200)
    await sleep(10)
  }
}

it.each([1, 2])(
  '[R6] that breaks %i times while it begins to listen is opened as often again',
  async (cuts) => {
    const { url, asked } = await cutting(cuts)
    const store = postgresStore(url, { schema: bench.schema })
    store.watch?.(() => {})
    await expect.poll(asked).toBe(cuts + 1)
    // As long as a second opening of the same break would have waited.
    await sleep(1_000)
    expect(asked()).toBe(cuts + 1)
    await closed(store)
    await untilNone()
  },
)

it('that is still being opened does not outlive the store', async () => {
  for (const ms of [0, 2, 5, 10, 20, 40]) {
    const store = postgresStore(bench.server.url, { schema: bench.schema })
    store.watch?.(() => {})
    await sleep(ms)
    await closed(store)
    await untilNone()
  }
})
