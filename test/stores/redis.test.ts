/** The Redis store is a store, with either client library, on one server that is set up as it asks. */
import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { startRedis } from '../../scripts/servers/redis.mjs'
import { redisStore } from '../../src/stores/redis/index.js'
import { type StoreContext, testStore, type TestStoreOptions } from '../../src/testing/index.js'

let server: Awaited<ReturnType<typeof startRedis>>

beforeAll(async () => {
  server = await startRedis()
  // The processes that the suite starts find it there.
  process.env['IBID_TEST_REDIS_URL'] = server.url
})
afterAll(() => server.stop())

const options: TestStoreOptions = {
  time: 'server',
  module: new URL('../fixtures/redis-store.mjs', import.meta.url),
}

describe('redis store on one server, from a URL', () => {
  const suite = testStore(({ id }) => redisStore(server.url, { prefix: id }), options)
  for (const { name, run } of suite) it(name, run)
})

describe('redis store on one server, with a client of ioredis', () => {
  const clients = new Map<string, Redis>()
  const suite = testStore(({ id }) => redisStore(clientFor(id), { prefix: id }), {
    ...options,
    clean: ({ id }: StoreContext) => {
      clients.get(id)?.disconnect()
    },
  })
  function clientFor(id: string): Redis {
    const client = clients.get(id) ?? new Redis(server.url)
    clients.set(id, client)
    return client
  }
  for (const { name, run } of suite) it(name, run)
})

describe('redis store on one server, with a client of node-redis', () => {
  const clients = new Map<string, ReturnType<typeof createClient>>()
  const suite = testStore(({ id }) => redisStore(clientFor(id), { prefix: id }), {
    ...options,
    clean: ({ id }: StoreContext) => {
      clients.get(id)?.destroy()
    },
  })
  function clientFor(id: string): ReturnType<typeof createClient> {
    const client = clients.get(id) ?? createClient({ url: server.url })
    clients.set(id, client)
    return client
  }
  for (const { name, run } of suite) it(name, run)
})

describe('redis store on one server, in many shards', () => {
  const suite = testStore(({ id }) => redisStore(server.url, { prefix: id, shards: 16 }), { time: 'server' })
  for (const { name, run } of suite) it(name, run)
})
