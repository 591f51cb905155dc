/** A failover: the primary dies, its synchronous standby is promoted, and the application follows by its URL. */
import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'pg'
import { afterAll, describe, expect, it } from 'vitest'
import { type PostgresServer, startPostgres } from '../../scripts/servers/postgres.mjs'
import { createIbid } from '../../src/index.js'
import { postgresStore } from '../../src/stores/postgres/index.js'
import { tally } from '../../src/testing/tally.js'
import { audit, startLoad } from './load.js'

const servers: PostgresServer[] = []

afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop()))
})

async function start() {
  const primary = await startPostgres()
  servers.push(primary)
  const standby = await primary.startStandby({ name: 'standby1' })
  servers.push(standby)
  const hosts = `127.0.0.1:${primary.port},127.0.0.1:${standby.port}`
  return { primary, standby, url: `postgres://postgres:secret@${hosts}/postgres` }
}

describe('a primary with a standby', () => {
  it('[R12][R61] that is synchronous: the primary is killed, and nothing acknowledged is lost', async () => {
    const { primary, standby, url } = await start()
    await primary.set({ synchronous_standby_names: 'standby1' })
    const store = postgresStore(url)
    await until(async () => (await store.check()).facts['synchronousReplicas'] === 1)
    expect((await store.check()).findings).toEqual([])
    const load = startLoad(store)
    while (load.books.acknowledged.size < 500) await sleep(5)
    await primary.kill()
    tally({ kills: 1 })
    await standby.promote()
    const before = load.books.acknowledged.size
    while (load.books.acknowledged.size < before + 300) await sleep(5)
    await load.stop()
    expect(await audit(store, load.books)).toEqual({ lost: [], twice: [] })
    await load.ibid.close()
  }, 120_000)

  it('[R12][R61] that is synchronous: what was kept from waiting for it is not told as done', async () => {
    const { primary, standby } = await start()
    const store = postgresStore(primary.url)
    const ibid = createIbid({ store, tenant: 'acme', housekeeping: false })
    const admin = new Pool({ connectionString: primary.url })
    await admin.query('create table orders (id text primary key)')
    await ibid.transact({ scope: 'order', key: 'warm' }, () => 0)
    await primary.set({ synchronous_standby_names: 'standby1' })
    await until(async () => (await store.check()).facts['synchronousReplicas'] === 1)
    const waiting = `select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'`
    const cancelling = setInterval(() => void admin.query(waiting), 20)
    // The claim waits for the standby, and then that is gone.
    const told = ibid.transact(
      { scope: 'order', key: 'lost' },
      async (tx) => {
        await tx.query(`insert into orders values ('lost')`)
        await standby.kill()
      },
      { lease: 2_000 },
    )
    await expect(told).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    clearInterval(cancelling)
    // As soon as it is back, what was written is there and believed.
    await standby.start()
    const again = await ibid.transact({ scope: 'order', key: 'lost' }, () => 'again')
    expect(again.replayed).toBe(true)
    expect((await admin.query('select 1 from orders')).rowCount).toBe(1)
    await ibid.close()
    await admin.end()
  }, 60_000)

  it('[R55] that is asynchronous: check says what a failover can lose; a replica itself is refused', async () => {
    const { standby, url } = await start()
    const store = postgresStore(url)
    await until(async () => (await store.check()).facts['replicas'] === 1)
    const { findings } = await store.check()
    expect(findings).toMatchObject([{ level: 'warning', code: 'ASYNCHRONOUS_REPLICAS' }])
    const only = postgresStore(standby.url)
    await expect(only.get([])).rejects.toMatchObject({ code: 'POSTGRES_REPLICA' })
    const pool = new Pool({ connectionString: standby.url })
    const foreign = postgresStore(pool)
    // Only once the tables have arrived there can it be asked for anything.
    await until(async () => {
      const { rows } = await pool.query(`select to_regclass('ibid.audit') is not null as yes`)
      return rows[0].yes === true
    })
    const report = await foreign.check()
    expect(report.findings).toMatchObject([{ level: 'error', code: 'REPLICA' }])
    const reads = [() => foreign.get([]), () => foreign.scan({ limit: 1 }), () => foreign.audit({ limit: 1 })]
    for (const read of reads) {
      await expect(read()).rejects.toMatchObject({ code: 'POSTGRES_REPLICA' })
    }
    await Promise.all([store.close(), only.close(), foreign.close()])
    await pool.end()
  }, 60_000)
})

async function until(is: () => Promise<boolean>): Promise<void> {
  while (!(await is())) await sleep(20)
}
