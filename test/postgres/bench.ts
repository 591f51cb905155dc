/** What the tests of the Postgres store share: a server, schemas that nobody else has, and SQL on the side. */
import { Pool } from 'pg'
import { afterAll, afterEach, beforeAll } from 'vitest'
import { type PostgresServer, startPostgres } from '../../scripts/servers/postgres.mjs'
import {
  type PostgresBegin,
  type PostgresOptions,
  postgresStore,
  type PostgresTransaction,
} from '../../src/stores/postgres/index.js'
import type { Store } from '../../src/store.js'

export interface PostgresBench {
  readonly server: PostgresServer
  /** Never the store's: what somebody else does on the same server. */
  readonly admin: Pool
  readonly schema: string
  /** On this test's schema; closed after the test. */
  open(
    options?: PostgresOptions,
    connection?: Parameters<typeof postgresStore>[0],
  ): Store<PostgresTransaction>
  query(text: string, params?: unknown[]): Promise<Readonly<Record<string, unknown>>[]>
}

let made = 0

/** One server per file, one schema per test. */
export function withPostgres(settings: Readonly<Record<string, string | number>> = {}): PostgresBench {
  let server: PostgresServer
  let admin: Pool
  let schema = ''
  let opened: Store[] = []

  beforeAll(async () => {
    server = await startPostgres({ settings })
    process.env['IBID_TEST_POSTGRES_URL'] = server.url
    admin = new Pool({ connectionString: server.url, max: 8 })
    admin.on('error', () => {})
    schema = `t${++made}`
  })

  afterEach(async () => {
    await Promise.allSettled(opened.map((store) => store.close()))
    opened = []
    schema = `t${++made}`
  })

  afterAll(async () => {
    await admin?.end()
    await server?.stop()
  })

  return {
    get server() {
      return server
    },
    get admin() {
      return admin
    },
    get schema() {
      return schema
    },
    open(options = {}, connection = server.url) {
      const store = postgresStore(connection, { schema, ...options })
      opened.push(store)
      return store
    },
    async query(text, params = []) {
      return (await admin.query(text, params)).rows as Record<string, unknown>[]
    },
  }
}

/** As a program that has its own pool, unit of work and habits would do it: what came of its commit it does not ask. */
export function beginOn(pool: () => Pool): PostgresBegin {
  return async (work) => {
    const client = await pool().connect()
    try {
      await client.query('begin isolation level read committed')
      const result = await work({
        client,
        query: async (text, params) => await client.query(text, [...params]),
      })
      await client.query('commit')
      return result
    } catch (error) {
      await client.query('rollback')
      throw error
    } finally {
      client.release()
    }
  }
}
