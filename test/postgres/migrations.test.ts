/** Migrations: many processes at once, by hand, not at all, and never over a newer schema. */
import { describe, expect, it } from 'vitest'
import { createHash } from 'node:crypto'
import { addressId } from '../../src/core/receipt.js'
import { type Migration, migrations, postgresStore } from '../../src/stores/postgres/index.js'
import { draft, put } from '../../src/testing/store/drafts.js'
import { withPostgres } from './bench.js'

const bench = withPostgres()

describe('migrations', () => {
  it('all succeed when many stores start at once', async () => {
    const stores = Array.from({ length: 20 }, () => bench.open({ maxConnections: 2 }))
    await Promise.all(stores.map((store) => store.get([])))
    expect(await bench.query(`select version from "${bench.schema}".meta`)).toEqual([{ version: 4 }])
  })

  it('can be run by hand, and are then not run again', async () => {
    const store = bench.open({ migrate: false })
    await expect(store.get([])).rejects.toMatchObject({ code: 'VERSION_MISMATCH' })
    for (const { sql } of migrations(bench.schema)) await bench.admin.query(sql)
    expect((await put(store)).state).toBe('pending')
  })

  it('take a schema whose name needs quoting', async () => {
    const schema = `Odd "name" it's`
    const store = postgresStore(bench.server.url, { schema })
    await put(store)
    await store.purge(10, 1_000)
    expect((await store.audit({ limit: 10 })).events).toHaveLength(1)
    await store.close()
  })

  it('leave a newer schema alone, and say so', async () => {
    await bench.open().get([])
    await bench.query(`update "${bench.schema}".meta set version = 99`)
    const refused = bench.open().get([])
    await expect(refused).rejects.toThrow('is at version 99, and this ibid knows only 4')
    await expect(refused).rejects.toMatchObject({ code: 'VERSION_MISMATCH', retriable: false })
  })

  it('[R52] keep what the version before has written, and keep that version from claiming', async () => {
    const [first] = migrations(bench.schema) as [Migration]
    await bench.admin.query(first.sql)
    const address = { tenant: 'acmé 🧾', scope: 's', key: 'k' }
    const old = createHash('sha256').update(addressId(address)).digest('hex').slice(0, 32)
    await bench.query(
      `insert into "${bench.schema}".receipts
       values ($4, 1, 1, 1, 1, 1, 1, 1, 1, 1, true, $1, $2, $3, 'unknown', 'hold', 't', 'f', null)`,
      [address.tenant, address.scope, address.key, old],
    )
    await bench.query(
      `insert into "${bench.schema}".audit
         (digest, at, epoch, attempt, count, tenant, scope, key, event, state, fingerprint)
       values ($4, 1, 1, 1, 1, $1, $2, $3, 'held', 'unknown', 'f')`,
      [address.tenant, address.scope, address.key, old],
    )
    const store = bench.open()
    expect(await store.claim([draft(address)])).toMatchObject([{ won: false, found: { token: 't' } }])
    expect((await store.scan({ tenant: address.tenant, limit: 5 })).receipts).toHaveLength(1)
    expect((await store.scan({ states: ['unknown'], limit: 5 })).receipts).toHaveLength(1)
    expect((await store.audit({ ...address, limit: 5 })).events).toMatchObject([{ event: 'held' }])
    await expect(bench.query(`select epoch_floor from "${bench.schema}".meta`)).rejects.toThrow('epoch_floor')
  })

  it('[R52] wait for whoever has the tables without making others wait for long', async () => {
    const [first, second] = migrations(bench.schema) as [Migration, Migration]
    await bench.admin.query(first.sql)
    await bench.admin.query(second.sql)
    const long = await bench.admin.connect()
    await long.query('begin')
    await long.query(`lock table "${bench.schema}".audit in row exclusive mode`)
    const store = bench.open()
    const ready = put(store)
    const stopMs = performance.now() + 2_000
    // What a claim of the version before does, with its patience.
    while (performance.now() < stopMs) {
      await bench.query(`set lock_timeout = 200; lock table "${bench.schema}".audit in row exclusive mode`)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    await long.query('commit')
    long.release()
    expect((await ready).state).toBe('pending')
  })

  it("[R52] let the version before write its events, and read none of the newer ones' wrongly", async () => {
    const store = bench.open()
    await store.claim(Array.from({ length: 16 }, () => draft()))
    await expect(bench.query(`select e.id from "${bench.schema}".audit e`)).rejects.toThrow('e.id')
    await bench.query(
      `insert into "${bench.schema}".audit
         (digest, at, epoch, attempt, count, tenant, scope, key, event, state, fingerprint)
       values (gen_random_uuid(), 1, 1, 1, 1, 't', 's', 'from before', 'claimed', 'pending', 'f')`,
    )
    const { events } = await store.audit({ limit: 50 })
    expect(events.map(({ key }) => key).at(-1)).toBe('from before')
  })

  it('do not need the right to create once they are done', async () => {
    await bench.open().get([])
    const { schema } = bench
    await bench.query(`create role app_${schema} login;
      grant usage on schema "${schema}" to app_${schema};
      grant select, insert, update, delete on all tables in schema "${schema}" to app_${schema}`)
    const url = bench.server.url.replace('postgres:secret@', `app_${schema}:secret@`)
    const store = bench.open({}, url)
    await put(store)
    await store.purge(10, 1_000)
    const { findings } = await store.check()
    expect(findings).toEqual([])
    expect((await store.scan({ states: ['pending'], limit: 5 })).receipts).toHaveLength(1)
    expect((await store.audit({ limit: 5 })).events).toHaveLength(1)
  })
})
