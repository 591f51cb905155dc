/** The Redis store is a store on a cluster of three masters, with either client library. */
import { Cluster } from 'ioredis'
import { createCluster } from 'redis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RedisCluster, startRedisCluster } from '../../scripts/servers/redis.mjs'
import { redisStore } from '../../src/stores/redis/index.js'
import { testStore, type TestStoreOptions } from '../../src/testing/index.js'

let servers: RedisCluster

beforeAll(async () => {
  servers = await startRedisCluster()
  // The processes that the suite starts find it there.
  process.env['IBID_TEST_REDIS_URL'] = servers.url
})
afterAll(() => servers.stop())

const options: TestStoreOptions = {
  time: 'server',
  module: new URL('../fixtures/redis-store.mjs', import.meta.url),
}

describe('redis store on a cluster, from the URL of one node', () => {
  const suite = testStore(({ id }) => redisStore(servers.url, { prefix: id }), options)
  for (const { name, run } of suite) it(name, run)

  it('uses all masters', async () => {
    const store = redisStore(servers.url, { prefix: 'spread' })
    const { facts } = await store.check()
    expect(facts).toMatchObject({ cluster: true, masters: 3, shards: 64 })
    await store.close()
  })
})

describe('redis store on a cluster, with one of ioredis', () => {
  const clusters = new Map<string, Cluster>()
  const suite = testStore(({ id }) => redisStore(clusterFor(id), { prefix: id }), {
    ...options,
    clean: ({ id }) => clusters.get(id)?.disconnect(),
  })
  function clusterFor(id: string): Cluster {
    const cluster = clusters.get(id) ?? new Cluster([servers.url])
    clusters.set(id, cluster)
    return cluster
  }
  for (const { name, run } of suite) it(name, run)
})

describe('redis store on a cluster, with one of node-redis', () => {
  const clusters = new Map<string, ReturnType<typeof createCluster>>()
  const suite = testStore(({ id }) => redisStore(clusterFor(id), { prefix: id }), {
    time: 'server',
    clean: ({ id }) => clusters.get(id)?.destroy(),
  })
  function clusterFor(id: string): ReturnType<typeof createCluster> {
    const cluster = clusters.get(id) ?? createCluster({ rootNodes: [{ url: servers.url }] })
    clusters.set(id, cluster)
    return cluster
  }
  for (const { name, run } of suite) it(name, run)
})
