/**
 * Waiting for replicas in a cluster: the master that was written to is asked, and no other. One of the masters has a
 * replica here, so that every answer says which of them was asked.
 */
import { Cluster } from 'ioredis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RedisCluster, startRedisCluster } from '../../scripts/servers/redis.mjs'
import { redisStore } from '../../src/stores/redis/index.js'
import { ioredisDriver } from '../../src/stores/redis/ioredis.js'
import { slotOf } from '../../src/stores/redis/slot.js'
import { draft } from '../../src/testing/store/drafts.js'

const WAIT = { replicas: 1, timeoutMs: 300 }
const CLAIMS = 8
let servers: RedisCluster
const clients: Cluster[] = []

/** Slots are dealt to three masters in equal parts, in their order. */
const masterOf = (tag: string): number => Math.floor(slotOf(tag) / (16_384 / 3))
const WITH_REPLICA = masterOf('app')

beforeAll(async () => {
  servers = await startRedisCluster({ settings: { appendfsync: 'no' } })
  await servers.nodes[WITH_REPLICA]?.replica({ 'cluster-enabled': 'no' })
})
afterAll(async () => {
  for (const client of clients) client.disconnect()
  await servers.stop()
})

/** How many claims were acknowledged, over as many shards as one is told. */
async function acknowledged(keyPrefix: string, prefix: string, shards: number): Promise<number> {
  const client = new Cluster([servers.url], { keyPrefix })
  clients.push(client)
  const store = redisStore(client, { prefix, shards, wait: WAIT })
  await store.get([])
  const claims = Array.from({ length: CLAIMS }, () => store.claim([draft()]))
  return (await Promise.allSettled(claims)).filter(({ status }) => status === 'fulfilled').length
}

/** To every node. */
async function allow(rule: string): Promise<void> {
  await Promise.all(servers.nodes.map((node) => node.cli('ACL', 'SETUSER', 'default', rule)))
}

describe('a write in a cluster, over ioredis', () => {
  it('[R12] is acknowledged by the replicas of its own master', async () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f']
    const there = names.find((name) => masterOf(`${name}:0`) === WITH_REPLICA) ?? ''
    const elsewhere = names.find((name) => masterOf(`${name}:0`) !== WITH_REPLICA) ?? ''
    expect(await acknowledged('', there, 1)).toBe(CLAIMS)
    expect(await acknowledged('', elsewhere, 1)).toBe(0)
  })

  it('[R12] is acknowledged by those also where the client gives its keys a prefix', async () => {
    const elsewhere = ['a', 'b', 'c', 'd'].find((tag) => masterOf(tag) !== WITH_REPLICA)
    expect(await acknowledged('{app}:', 'prefixed', 64)).toBe(CLAIMS)
    expect(await acknowledged(`{${elsewhere}}:`, 'prefixed', 64)).toBe(0)
  })

  it('[R12] is acknowledged though no node says which slot a key is in', async () => {
    await allow('-cluster|keyslot')
    try {
      expect(await acknowledged('{app}:', 'unsaid', 64)).toBe(CLAIMS)
    } finally {
      await allow('+cluster|keyslot')
    }
  })

  it('[R12] is not taken for acknowledged while no master of its slot is known, and nobody else is asked', async () => {
    const asked: string[] = []
    const call = async (name: string): Promise<number> => asked.push(name)
    const cluster = { call, slots: [], options: {}, nodes: () => [], on() {}, off() {} }
    const driver = ioredisDriver(cluster as never)
    await expect(driver.send('k', 'WAIT', ['1', '100'])).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: expect.stringContaining('no master is known'),
    })
    expect(asked).toEqual([])
  })
})
