/** The Postgres store is a store: over a URL, over a pool of pg and over postgres.js. */
import { Pool } from 'pg'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { type PostgresServer, startPostgres } from '../../scripts/servers/postgres.mjs'
import { postgresStore } from '../../src/stores/postgres/index.js'
import { type OpenStore, type StoreContext, testStore } from '../../src/testing/index.js'
import { transact } from '../fixtures/postgres-store.mjs'

let server: PostgresServer
let pool: Pool
let sql: postgres.Sql

beforeAll(async () => {
  server = await startPostgres()
  process.env['IBID_TEST_POSTGRES_URL'] = server.url
  pool = new Pool({ connectionString: server.url, max: 20 })
  sql = postgres(server.url, { max: 20, onnotice: () => {} })
})

afterAll(async () => {
  await Promise.all([pool?.end(), sql?.end()])
  await server?.stop()
})

async function clean({ id }: StoreContext): Promise<void> {
  await pool.query(`drop schema if exists "${id}" cascade; drop table if exists public.effects`)
}

const MODULE = new URL('../fixtures/postgres-store.mjs', import.meta.url)

function suite(name: string, open: OpenStore, module?: URL): void {
  describe(name, () => {
    const tests = testStore(open, { time: 'server', transact, clean, ...(module ? { module } : {}) })
    for (const { name: title, run } of tests) it(title, run)
  })
}

suite('postgres store, from a URL', ({ id }) => postgresStore(server.url, { schema: id }), MODULE)
suite('postgres store, over a pool of pg', ({ id }) => postgresStore(pool, { schema: id }))
suite('postgres store, over postgres.js', ({ id }) => postgresStore(sql, { schema: id }))
