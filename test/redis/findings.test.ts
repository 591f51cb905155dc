/** What went wrong in other idempotency layers on Redis: each a story that must end well here. */
import { afterEach, expect, test } from 'vitest'
import { type RedisServer, startRedis } from '../../scripts/servers/redis.mjs'
import type { Store } from '../../src/store.js'
import { redisStore } from '../../src/stores/redis/index.js'
import { change, draft, put, SHORT_MS } from '../../src/testing/store/drafts.js'

const servers: RedisServer[] = []
const stores: Store[] = []

afterEach(async () => {
  await Promise.all(stores.splice(0).map((store) => store.close()))
  await Promise.all(servers.splice(0).map((server) => server.stop()))
})

async function start(settings: Readonly<Record<string, string | number>> = {}): Promise<RedisServer> {
  const server = await startRedis({ settings })
  servers.push(server)
  return server
}

function open(...args: Parameters<typeof redisStore>): Store {
  const store = redisStore(...args)
  stores.push(store)
  return store
}

/** Claims until the server has had enough, or it was enough for any server of this size. */
async function fill(store: Store): Promise<{ readonly won: readonly string[]; readonly error: unknown }> {
  const won: string[] = []
  for (let i = 0; i < 200; i++) {
    const drafts = Array.from({ length: 50 }, () => draft({ outcome: 'x'.repeat(1_000) }))
    try {
      await store.claim(drafts)
    } catch (error) {
      return { won, error }
    }
    won.push(...drafts.map(({ key }) => key))
  }
  return { won, error: undefined }
}

async function missing(store: Store, keys: readonly string[]): Promise<number> {
  const { receipts } = await store.get(keys.map((key) => ({ tenant: 'acme', scope: 'refund', key })))
  return receipts.filter((receipt) => receipt === undefined).length
}

test('[R8] a SETEX overwrote claims that were in flight', async () => {
  const server = await start()
  const store = open(server.url)
  const first = await put(store)
  const late = draft({ key: first.key, state: 'succeeded', outcome: '{"value":"late"}' })
  expect(await store.claim([late])).toMatchObject([{ won: false, found: { token: first.token } }])
  const stranger = { ...change(first, 'succeeded'), expect: { token: 'mine', state: 'pending' } as const }
  expect(await store.swap([stranger])).toMatchObject([{ done: false }])
  expect((await store.get([first])).receipts).toEqual([first])
})

test('[R11] a time to live took a pending claim away', async () => {
  const server = await start()
  const store = open(server.url)
  const pending = await put(store, { forMs: SHORT_MS })
  const held = await put(store)
  await store.swap([change(held, 'unknown', { forMs: SHORT_MS })])
  await new Promise((resolve) => setTimeout(resolve, SHORT_MS * 3))
  const { receipts } = await store.get([pending, held])
  expect(receipts.map((receipt) => receipt?.state)).toEqual(['pending', 'unknown'])
  const keys = (await server.cli('KEYS', '*')).split('\n')
  const lives = await Promise.all(keys.map((key) => server.cli('PTTL', key)))
  expect(lives.filter((ms) => ms !== '-1')).toEqual([])
})

test('[R55] allkeys-lru evicted a claim without a word', async () => {
  const server = await start({ 'maxmemory-policy': 'allkeys-lru', maxmemory: '6mb' })
  expect((await open(server.url).check()).findings).toMatchObject([{ level: 'error', code: 'EVICTION' }])
  const store = open(server.url, { accept: ['eviction'] })
  const { won, error } = await fill(store)
  expect(error).toBeUndefined()
  expect(await missing(store, won)).toBeGreaterThan(0)
})

test('[R12] a server that is full refuses claims, and has every one that it took', async () => {
  const server = await start({ maxmemory: '6mb' })
  const store = open(server.url)
  const { won, error } = await fill(store)
  expect(error).toMatchObject({ code: 'STORE_UNAVAILABLE', message: expect.stringContaining('OOM') })
  expect(won.length).toBeGreaterThan(0)
  expect(await missing(store, won)).toBe(0)
})
