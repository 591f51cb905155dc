/** [R55] A server that would lose receipts is refused, with the reason, unless that risk was accepted by name. */
import { afterEach, describe, expect, it } from 'vitest'
import { type RedisServer, startRedis } from '../../scripts/servers/redis.mjs'
import { createIbid } from '../../src/index.js'
import type { StoreReport } from '../../src/store.js'
import { redisStore, type RedisStoreOptions } from '../../src/stores/redis/index.js'

const servers: RedisServer[] = []

async function start(settings: Readonly<Record<string, string | number>> = {}): Promise<RedisServer> {
  const server = await startRedis({ settings })
  servers.push(server)
  return server
}

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop()))
})

async function reportOf(url: string, options: RedisStoreOptions = {}): Promise<StoreReport> {
  const store = redisStore(url, options)
  try {
    return await store.check()
  } finally {
    await store.close()
  }
}

async function findingsOf(url: string, options: RedisStoreOptions = {}): Promise<readonly string[]> {
  return (await reportOf(url, options)).findings.map(({ level, code }) => `${level} ${code}`)
}

describe('[R55] check', () => {
  it('has nothing to say about a server that is set up as it should be', async () => {
    const server = await start()
    const { findings, facts } = await reportOf(server.url)
    expect(findings).toEqual([])
    expect(facts).toMatchObject({
      client: 'ioredis',
      cluster: false,
      appendonly: true,
      appendfsync: 'always',
      maxmemoryPolicy: 'noeviction',
      replicas: 0,
    })
    expect(facts['server']).toMatch(/^(Redis|Valkey) \d/)
  })

  it('refuses a server that evicts, whatever it would evict', async () => {
    for (const policy of ['allkeys-lru', 'allkeys-random', 'volatile-ttl']) {
      const server = await start({ 'maxmemory-policy': policy })
      expect(await findingsOf(server.url)).toEqual(['error EVICTION'])
      expect(await findingsOf(server.url, { accept: ['eviction'] })).toEqual(['warning EVICTION'])
      expect(await findingsOf(server.url, { accept: ['no-aof', 'async-replica'] })).toEqual([
        'error EVICTION',
      ])
    }
  })

  it('refuses a server that does not write to disk', async () => {
    const server = await start({ appendonly: 'no' })
    expect(await findingsOf(server.url)).toEqual(['error NO_AOF'])
    expect(await findingsOf(server.url, { accept: ['no-aof'] })).toEqual(['warning NO_AOF'])
  })

  it('says what a crash can lose where not every answer waits for the disk', async () => {
    const server = await start({ appendfsync: 'everysec' })
    const { findings } = await reportOf(server.url)
    expect(findings).toMatchObject([{ level: 'warning', code: 'FSYNC_EVERYSEC' }])
    expect(findings[0]?.message).toContain('last second')
    await server.cli('CONFIG', 'SET', 'appendfsync', 'no')
    expect(await findingsOf(server.url)).toEqual(['warning FSYNC_NO'])
  })

  it('refuses replicas that nobody waits for, and says what waiting does not give', async () => {
    const server = await start()
    const replica = await server.replica()
    expect(await findingsOf(server.url)).toEqual(['error ASYNC_REPLICA'])
    expect(await findingsOf(server.url, { accept: ['async-replica'] })).toEqual(['warning ASYNC_REPLICA'])
    const wait = { replicas: 1, timeoutMs: 1_000 }
    expect(await findingsOf(server.url, { wait })).toEqual(['warning WAIT_IS_NO_CONSENSUS'])
    expect(await findingsOf(replica.url)).toEqual(['error REPLICA'])
    expect(await findingsOf(replica.url, { prefix: 'unheard-of' })).toEqual(['error REPLICA'])
  })

  it('says so where the configuration cannot be read', async () => {
    const server = await start()
    await server.cli('ACL', 'SETUSER', 'managed', 'on', '>hunter2', '~*', '&*', '+@all', '-config')
    await server.cli('ACL', 'SETUSER', 'blind', 'on', '>hunter2', '~*', '&*', '+@all', '-config', '-info')
    const { host } = new URL(server.url)
    const managed = await reportOf(`redis://managed:hunter2@${host}`)
    expect(managed.findings).toMatchObject([{ level: 'warning', code: 'FSYNC_UNREADABLE' }])
    expect(managed.facts['appendfsync']).toBe('unknown')
    expect(JSON.stringify(managed)).not.toContain('hunter2')
    // ioredis itself asks INFO before it says that it is ready; told not to, it works for such a user too.
    const { Redis } = await import('ioredis')
    const client = new Redis(`redis://blind:hunter2@${host}`, { enableReadyCheck: false })
    const codes = async (options: RedisStoreOptions): Promise<string[]> =>
      (await redisStore(client, options).check()).findings.map(({ level, code }) => `${level} ${code}`)
    expect(await codes({})).toEqual(['error UNVERIFIED'])
    expect(await codes({ accept: ['unverified'] })).toEqual(['warning UNVERIFIED'])
    client.disconnect()
  })

  it('keeps the engine from executing anything on a server that it refuses', async () => {
    const server = await start({ appendonly: 'no' })
    const ibid = createIbid({ store: redisStore(server.url), tenant: 'acme', housekeeping: false })
    let ran = false
    const call = ibid.once({ scope: 's', key: 'k', payload: 1 }, () => (ran = true))
    await expect(call).rejects.toMatchObject({
      code: 'UNSAFE_STORE',
      message: expect.stringContaining("accept: ['no-aof']"),
    })
    expect(ran).toBe(false)
    await ibid.close()
  })
})
