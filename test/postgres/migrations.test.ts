/** Migrations: many processes at once, by hand, not at all, and never over a newer schema. */
import { describe, expect, it } from 'vitest'
import { migrations, postgresStore } from '../../src/stores/postgres/index.js'
import { put } from '../../src/testing/store/drafts.js'
import { withPostgres } from './bench.js'

const bench = withPostgres()

describe('migrations', () => {
  it('all succeed when many stores start at once', async () => {
    const stores = Array.from({ length: 20 }, () => bench.open({ maxConnections: 2 }))
    await Promise.all(stores.map((store) => store.get([])))
    expect(await bench.query(`select version from "${bench.schema}".meta`)).toEqual([{ version: 1 }])
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
    await expect(refused).rejects.toThrow('is at version 99, and this ibid knows only 1')
    await expect(refused).rejects.toMatchObject({ code: 'VERSION_MISMATCH', retriable: false })
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
