/** [R12] A server that is gone or hangs is answered for in bounded time, and used again when it is back. */
import { once } from 'node:events'
import net from 'node:net'
import { inspect } from 'node:util'
import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { afterEach, describe, expect, it } from 'vitest'
import { createIbid } from '../../src/index.js'
import type { RedisConnection } from '../../src/stores/redis/index.js'
import { redisStore } from '../../src/stores/redis/index.js'
import { draft, put } from '../../src/testing/store/drafts.js'
import { eventually, withRedis } from './bench.js'

const bench = withRedis()
const QUICK = { timeoutMs: 400 }
const ends: (() => unknown)[] = []

afterEach(() => {
  for (const end of ends.splice(0)) end()
})

const connections: Readonly<Record<string, () => RedisConnection>> = {
  'a URL': () => bench.server.url,
  'a client of ioredis': () => {
    const client = new Redis(bench.server.url, { retryStrategy: () => 50 })
    client.on('error', () => {})
    ends.push(() => client.disconnect())
    return client
  },
  'a client of node-redis': () => {
    const client = createClient({ url: bench.server.url, socket: { reconnectStrategy: () => 50 } })
    client.on('error', () => {})
    ends.push(() => client.destroy())
    return client
  },
}

describe.each(Object.entries(connections))('over %s', (_name, connection) => {
  it('[R12] a server that is gone rejects, and the store comes back with it', async () => {
    const store = bench.open(QUICK, connection())
    const receipt = await put(store)
    await bench.server.kill()
    const calls = [() => store.claim([draft()]), () => store.get([]), () => store.check()]
    for (const call of calls) {
      await expect(call()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', retriable: true })
    }
    await bench.server.restart()
    await eventually(async () => await put(store))
    expect((await store.get([receipt])).receipts).toEqual([receipt])
  })

  it('[R12] a server that hangs rejects, and the store comes back with it', async () => {
    const store = bench.open(QUICK, connection())
    await put(store)
    process.kill(bench.server.pid, 'SIGSTOP')
    try {
      await expect(store.claim([draft()])).rejects.toThrow('no answer within 400 ms')
      await expect(store.get([])).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    } finally {
      process.kill(bench.server.pid, 'SIGCONT')
    }
    await eventually(async () => await put(store))
  })
})

describe('a store whose server was never there', () => {
  it('[R12] refuses through the engine, executes nothing, and shows no password anywhere', async () => {
    const store = redisStore('redis://somebody:hunter2@127.0.0.1:1', QUICK)
    const ibid = createIbid({ store, tenant: 'acme', housekeeping: false })
    let ran = false
    const call = ibid.once({ scope: 's', key: 'k', payload: 1 }, () => (ran = true))
    const error = await call.catch((reason: unknown) => reason)
    expect(error).toMatchObject({ code: 'STORE_UNAVAILABLE', retriable: true })
    expect(ran).toBe(false)
    expect(inspect(error, { depth: 10 })).not.toContain('hunter2')
    await ibid.close()
  })

  it('shows no password when the server refuses it', async () => {
    const { host } = new URL(bench.server.url)
    const store = bench.open(QUICK, `redis://somebody:hunter2@${host}`)
    const error = await store.get([]).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ code: 'STORE_UNAVAILABLE' })
    expect(inspect(error, { depth: 10 })).not.toContain('hunter2')
  })

  it('says what is wrong with a URL without showing it', () => {
    for (const url of ['redis://u:hunter2@ho st', 'mysql://u:hunter2@h', 'hunter2']) {
      expect(() => redisStore(url)).toThrow(expect.objectContaining({ code: 'INVALID_INTENT' }))
      expect(() => redisStore(url)).not.toThrow('hunter2')
    }
    expect(() => redisStore({} as never)).toThrow(expect.objectContaining({ code: 'INVALID_INTENT' }))
  })
})

it('[R12] a connection from a URL that dies without a word is given up, and made anew', async () => {
  const pairs: (readonly [near: net.Socket, far: net.Socket])[] = []
  const line = net.createServer((near) => {
    const far = net.connect(bench.server.port, '127.0.0.1')
    for (const socket of [near, far]) socket.on('error', () => {})
    near.pipe(far).pipe(near)
    pairs.push([near, far])
  })
  await once(line.listen(0, '127.0.0.1'), 'listening')
  ends.push(() => {
    for (const socket of pairs.flat()) socket.destroy()
    line.close()
  })
  const { port } = line.address() as net.AddressInfo
  const store = bench.open(QUICK, `redis://127.0.0.1:${port}`)
  await put(store)
  const connections = pairs.length
  await new Promise((resolve) => setTimeout(resolve, 3 * QUICK.timeoutMs))
  await put(store)
  // Idle is not dead.
  expect(pairs).toHaveLength(connections)
  for (const [near, far] of pairs) {
    near.unpipe(far).resume()
    far.unpipe(near).resume()
  }
  await expect(store.get([])).rejects.toThrow('no answer within 400 ms')
  await eventually(async () => await put(store))
})
