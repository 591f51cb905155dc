/** The Postgres store is a store: over a URL, over a pool of pg and over postgres.js. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Pool } from 'pg'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { type PostgresServer, startPostgres } from '../../scripts/servers/postgres.mjs'
import { type PostgresTransaction, postgresStore } from '../../src/stores/postgres/index.js'
import { type OpenStore, type StoreContext, testStore, type TransactAccess } from '../../src/testing/index.js'

let server: PostgresServer
let admin: Pool
let pool: Pool
let sql: postgres.Sql

beforeAll(async () => {
  server = await startPostgres({ settings: { fsync: 'on' } })
  admin = new Pool({ connectionString: server.url, max: 2 })
  pool = new Pool({ connectionString: server.url, max: 20 })
  sql = postgres(server.url, { max: 20, onnotice: () => {} })
})

afterAll(async () => {
  await Promise.all([admin?.end(), pool?.end(), sql?.end()])
  await server?.stop()
})

const EFFECTS = 'create table if not exists public.effects (name text primary key, value text)'

const transact: TransactAccess = {
  write: async (tx, name, value) => {
    const { query } = tx as PostgresTransaction
    await query(EFFECTS)
    await query('insert into public.effects values ($1, $2)', [name, value])
  },
  read: async (tx, name) => {
    const { query } = tx as PostgresTransaction
    await query(EFFECTS)
    const { rows } = await query('select value from public.effects where name = $1', [name])
    return rows[0]?.['value']
  },
}

async function clean({ id }: StoreContext): Promise<void> {
  await admin.query(`drop schema if exists "${id}" cascade; drop table if exists public.effects`)
}

const MODULE = new URL('../fixtures/postgres-store.mjs', import.meta.url)

function suite(name: string, open: OpenStore, module?: URL): void {
  describe(name, () => {
    const tests = testStore(
      (context) => {
        writeFileSync(join(context.directory, 'url'), server.url)
        return open(context)
      },
      { time: 'server', transact, clean, ...(module ? { module } : {}) },
    )
    for (const { name: title, run } of tests) it(title, run)
  })
}

suite('postgres store, from a URL', ({ id }) => postgresStore(server.url, { schema: id }), MODULE)
suite('postgres store, over a pool of pg', ({ id }) => postgresStore(pool, { schema: id }))
suite('postgres store, over postgres.js', ({ id }) => postgresStore(sql, { schema: id }))
