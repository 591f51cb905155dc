/**
 * What an asynchronous failover loses, shown: a claim that was acknowledged is gone, and its key is claimed again.
 * And what waiting for replicas gives: nothing is acknowledged that only the primary has.
 */
import net from 'node:net'
import { Redis } from 'ioredis'
import { afterEach, describe, expect, it } from 'vitest'
import { type RedisServer, startRedis } from '../../scripts/servers/redis.mjs'
import type { Receipt } from '../../src/core/receipt.js'
import { redisStore, type RedisStoreOptions } from '../../src/stores/redis/index.js'
import { change, draft, put } from '../../src/testing/store/drafts.js'
import { tally } from '../../src/testing/tally.js'

let primary: RedisServer
const ends: (() => Promise<unknown>)[] = []

afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

/** A primary, a replica that has everything, and a line between them that can be held up. */
async function pair(options: RedisStoreOptions) {
  primary = await startRedis()
  ends.push(() => primary.stop())
  const line = await startLine(primary.port)
  ends.push(async () => line.cut())
  const replica = await primary.replica({ replicaof: `127.0.0.1 ${line.port}` })
  const store = redisStore(primary.url, { prefix: 'failover', ...options })
  ends.push(() => store.close())
  return { store, replica, line }
}

/** What a network between primary and replica is: what was sent may be on its way, and then be lost. */
async function startLine(to: number) {
  const sockets: net.Socket[] = []
  let port = to
  const server = net.createServer((near) => {
    const far = net.connect(port, '127.0.0.1')
    sockets.push(near, far)
    for (const socket of [near, far]) socket.on('error', () => {})
    near.pipe(far)
    far.pipe(near)
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as net.AddressInfo).port,
    hold() {
      for (const socket of sockets) socket.unpipe().pause()
    },
    /** What is connected is cut off; what connects next gets to another server. */
    redirect(other: number) {
      port = other
      for (const socket of sockets) socket.destroy()
    },
    cut() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

async function promote(replica: RedisServer): Promise<ReturnType<typeof redisStore>> {
  await primary.kill()
  tally({ kills: 1 })
  await replica.cli('REPLICAOF', 'NO', 'ONE')
  const store = redisStore(replica.url, { prefix: 'failover' })
  ends.push(() => store.close())
  return store
}

async function untilReplicated(replica: RedisServer, receipt: Receipt): Promise<void> {
  const store = redisStore(replica.url, { prefix: 'failover' })
  ends.push(() => store.close())
  while ((await store.get([receipt])).receipts[0] === undefined) {
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

describe('a failover to a replica that was behind', () => {
  it('[R55] loses an acknowledged claim, so that a second one wins; check said so', async () => {
    const { store, replica, line } = await pair({ accept: ['async-replica'] })
    const { findings } = await store.check()
    expect(findings).toMatchObject([{ level: 'warning', code: 'ASYNC_REPLICA' }])
    expect(findings[0]?.message).toContain('a failover loses acknowledged claims')
    const before = await put(store)
    await untilReplicated(replica, before)
    line.hold()
    const wanted = draft()
    expect(await store.claim([wanted])).toMatchObject([{ won: true }])
    const after = await promote(replica)
    expect(await after.claim([draft({ key: before.key })])).toMatchObject([{ won: false }])
    expect(await after.claim([draft({ key: wanted.key })])).toMatchObject([{ won: true }])
  })

  it('loses nothing that was acknowledged, where every write waits for the replica', async () => {
    const wait = { replicas: 1, timeoutMs: 300 }
    const { store, replica, line } = await pair({ wait })
    const acknowledged = await put(store)
    line.hold()
    const wanted = draft()
    const claim = store.claim([wanted])
    await expect(claim).rejects.toThrow('only 0 of 1 replicas had it within 300 ms')
    await expect(store.swap([change(acknowledged, 'succeeded')])).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
    })
    const after = await promote(replica)
    expect((await after.get([acknowledged])).receipts).toMatchObject([{ token: acknowledged.token }])
  })

  it('does not take the word of a new primary for what the old one wrote', async () => {
    const { line } = await pair({})
    const other = await startRedis()
    ends.push(() => other.stop())
    await other.replica()
    const way = await startLine(primary.port)
    // This client sends WAIT again on the connection that it makes next, wherever that leads.
    const client = new Redis(way.port)
    ends.push(async () => {
      client.disconnect()
      way.cut()
    })
    const store = redisStore(client, { prefix: 'failover', wait: { replicas: 1, timeoutMs: 5_000 } })
    await put(store)
    line.hold()
    const claim = store.claim([draft()]).catch((error: unknown) => error)
    await new Promise((resolve) => setTimeout(resolve, 200))
    way.redirect(other.port)
    expect(await claim).toMatchObject({ message: expect.stringContaining('while waiting for replicas') })
  })
})
