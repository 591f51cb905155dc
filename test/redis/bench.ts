/** What the tests of the Redis store share: a server of their own, and prefixes that nobody else has. */
import { afterAll, afterEach, beforeAll } from 'vitest'
import { type RedisServer, startRedis } from '../../scripts/servers/redis.mjs'
import type { Store } from '../../src/store.js'
import { type RedisConnection, redisStore, type RedisStoreOptions } from '../../src/stores/redis/index.js'

export interface RedisBench {
  readonly server: RedisServer
  readonly prefix: string
  /** Under this test's prefix; closed after the test. */
  open(options?: RedisStoreOptions, connection?: RedisConnection): Store
}

let made = 0

/** One server per file, one prefix per test. */
export function withRedis(settings: Readonly<Record<string, string | number>> = {}): RedisBench {
  let server: RedisServer
  let prefix = ''
  let opened: Store[] = []

  beforeAll(async () => {
    server = await startRedis({ settings })
    process.env['IBID_TEST_REDIS_URL'] = server.url
    prefix = `t${++made}`
  })

  afterEach(async () => {
    await Promise.allSettled(opened.map((store) => store.close()))
    opened = []
    prefix = `t${++made}`
  })

  afterAll(async () => await server?.stop())

  return {
    get server() {
      return server
    },
    get prefix() {
      return prefix
    },
    open(options = {}, connection = server.url) {
      const store = redisStore(connection, { prefix, ...options })
      opened.push(store)
      return store
    },
  }
}

export async function eventually<T>(work: () => Promise<T>): Promise<T> {
  for (let tried = 1; ; tried++) {
    try {
      return await work()
    } catch (error) {
      if (tried >= 200) throw error
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
}
