/**
 * The server killed with SIGKILL under load, again and again: whatever it had acknowledged is there afterwards, and
 * no effect happened twice. The control shows that the books notice when that is not so.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, it } from 'vitest'
import { type RedisServer, startRedis } from '../../scripts/servers/redis.mjs'
import { redisStore } from '../../src/stores/redis/index.js'
import { tally } from '../../src/testing/tally.js'
import { audit, type Load, startLoad } from '../postgres/load.js'
import { eventually } from './bench.js'

const servers: RedisServer[] = []

async function start(settings: Readonly<Record<string, string>> = {}): Promise<RedisServer> {
  const server = await startRedis({ settings })
  servers.push(server)
  return server
}

afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop()))
})

async function untilMore({ books }: Load, count: number): Promise<void> {
  const before = books.acknowledged.size
  while (books.acknowledged.size < before + count) await sleep(5)
}

async function killAndRestart(server: RedisServer): Promise<void> {
  await server.kill()
  tally({ kills: 1 })
  await server.restart()
}

describe('a server that is killed under load', () => {
  it('[R12][R61] 20 times loses nothing that it acknowledged, and no effect happens twice', async () => {
    const server = await start()
    const store = redisStore(server.url, { timeoutMs: 1_000 })
    expect((await store.check()).findings).toEqual([])
    const load = startLoad(store)
    for (let kill = 1; kill <= 20; kill++) {
      await untilMore(load, 100)
      await killAndRestart(server)
    }
    await untilMore(load, 100)
    await load.stop()
    const { lost, twice } = await audit(store, load.books)
    expect({ lost, twice }).toEqual({ lost: [], twice: [] })
    expect(load.books.acknowledged.size).toBeGreaterThanOrEqual(2_100)
    expect(load.books.claims.size).toBeGreaterThan(0)
    await load.ibid.close()
  }, 240_000)
})

describe('[R55] without AOF', () => {
  it('the books notice what a kill has lost', async () => {
    const server = await start({ appendonly: 'no' })
    const refused = redisStore(server.url)
    expect((await refused.check()).findings).toMatchObject([{ level: 'error', code: 'NO_AOF' }])
    await refused.close()
    const store = redisStore(server.url, { accept: ['no-aof'], timeoutMs: 1_000 })
    const load = startLoad(store)
    await untilMore(load, 300)
    await killAndRestart(server)
    await untilMore(load, 100)
    await load.stop()
    const { lost } = await eventually(() => audit(store, load.books))
    expect(lost.length).toBeGreaterThanOrEqual(300)
    await load.ibid.close()
  }, 120_000)
})
