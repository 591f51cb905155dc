/**
 * The server killed with SIGKILL under load, again and again: whatever it had acknowledged is there afterwards, and
 * no effect happened twice. The control shows that the books notice when that is not so.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'pg'
import { afterAll, describe, expect, it } from 'vitest'
import { type PostgresServer, startPostgres } from '../../scripts/servers/postgres.mjs'
import { postgresStore } from '../../src/stores/postgres/index.js'
import { tally } from '../../src/testing/tally.js'
import { audit, startLoad } from './load.js'

const servers: PostgresServer[] = []

async function start(settings: Readonly<Record<string, string>> = {}): Promise<PostgresServer> {
  const server = await startPostgres({ settings })
  servers.push(server)
  return server
}

afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop()))
})

describe('a server that is killed under load', () => {
  it('[R12][R61] 20 times loses nothing that it acknowledged, and no effect happens twice', async () => {
    const server = await start()
    const store = postgresStore(server.url)
    await store.get([])
    const load = startLoad(store)
    for (let kill = 1; kill <= 20; kill++) {
      const before = load.books.acknowledged.size
      while (load.books.acknowledged.size < before + 100) await sleep(5)
      await server.kill()
      tally({ kills: 1 })
      await server.start()
    }
    const before = load.books.acknowledged.size
    while (load.books.acknowledged.size < before + 100) await sleep(5)
    await load.stop()
    const { lost, twice } = await audit(store, load.books)
    expect({ lost, twice }).toEqual({ lost: [], twice: [] })
    expect(load.books.acknowledged.size).toBeGreaterThanOrEqual(2_100)
    expect(load.books.refusals.get('STORE_UNAVAILABLE')).toBeGreaterThan(0)
    await load.ibid.close()
  }, 240_000)
})

describe('[R55] without synchronous commit', () => {
  it('check refuses a pool, and sessions of the store turn it on', async () => {
    const server = await start({ synchronous_commit: 'off' })
    const pool = new Pool({ connectionString: server.url })
    const refused = await postgresStore(pool).check()
    expect(refused.findings).toMatchObject([{ level: 'error', code: 'SYNCHRONOUS_COMMIT_OFF' }])
    await pool.end()
    const store = postgresStore(server.url)
    const { findings, facts } = await store.check()
    expect([findings, facts['synchronous_commit']]).toEqual([[], 'on'])
    await store.close()
  })

  it('the books notice what a kill has lost', async () => {
    const server = await start({ synchronous_commit: 'off', wal_writer_delay: '10s' })
    const store = postgresStore(server.url, { accept: ['synchronous-commit-off'] })
    const { findings } = await store.check()
    expect(findings).toMatchObject([{ level: 'warning', code: 'SYNCHRONOUS_COMMIT_OFF' }])
    const load = startLoad(store)
    let lost: string[] = []
    for (let kill = 1; kill <= 5 && lost.length === 0; kill++) {
      const before = load.books.acknowledged.size
      while (load.books.acknowledged.size < before + 300) await sleep(5)
      await server.kill()
      tally({ kills: 1 })
      await server.start()
      while (lost.length === 0) {
        const found = await audit(store, load.books).catch(() => undefined)
        if (found) lost = found.lost
        if (found) break
        await sleep(50)
      }
    }
    await load.stop()
    await load.ibid.close()
    expect(lost).not.toEqual([])
  }, 120_000)
})
