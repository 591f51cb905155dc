/** [R12] A server that is gone or hangs is answered for in bounded time, and used again when it is back. */
import { inspect } from 'node:util'
import { Pool } from 'pg'
import postgres from 'postgres'
import { afterEach, describe, expect, it } from 'vitest'
import { createIbid } from '../../src/index.js'
import { postgresStore } from '../../src/stores/postgres/index.js'
import { draft, put } from '../../src/testing/store/drafts.js'
import { withPostgres } from './bench.js'

const bench = withPostgres()
const QUICK = { connectTimeoutMs: 500, statementTimeoutMs: 300 }
const ends: (() => Promise<unknown>)[] = []

afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

const connections = {
  'a URL': () => bench.server.url,
  'a pool of pg': () => {
    const pool = new Pool({ connectionString: bench.server.url, connectionTimeoutMillis: 500 })
    ends.push(() => pool.end())
    return pool
  },
  'a pool of pg without a limit': () => {
    const pool = new Pool({ connectionString: bench.server.url })
    ends.push(() => pool.end())
    return pool
  },
  'postgres.js': () => {
    const sql = postgres(bench.server.url, { connect_timeout: 1, max: 4, onnotice: () => {} })
    ends.push(() => sql.end({ timeout: 1 }))
    return sql
  },
}

describe.each(Object.entries(connections))('over %s', (_name, connection) => {
  it('[R12] a server that is gone rejects, and the store comes back with it', async () => {
    const store = bench.open(QUICK, connection())
    await put(store)
    await bench.server.kill()
    const calls = [() => store.claim([draft()]), () => store.get([]), () => store.check()]
    for (const call of calls) await expect(call()).rejects.toBeInstanceOf(Error)
    await expect(store.transact?.(async (tx) => await tx.query('select 1'))).rejects.toBeInstanceOf(Error)
    await bench.server.start()
    await eventually(async () => await put(store))
    await eventually(async () => await store.transact?.(async (tx) => await tx.query('select 1')))
  }, 60_000)

  it('[R12] a server that hangs rejects, and the store comes back with it', async () => {
    const store = bench.open(QUICK, connection())
    await put(store)
    bench.server.suspend()
    try {
      await expect(store.claim([draft()])).rejects.toBeInstanceOf(Error)
      await expect(store.get([])).rejects.toBeInstanceOf(Error)
    } finally {
      bench.server.resume()
    }
    await eventually(async () => await put(store))
  }, 60_000)
})

describe('a store whose server was never there', () => {
  it('[R12] refuses through the engine, executes nothing, and shows no password anywhere', async () => {
    const store = postgresStore('postgres://somebody:hunter2@127.0.0.1:1/nowhere', QUICK)
    const ibid = createIbid({ store, tenant: 'acme', housekeeping: false })
    let ran = false
    const call = ibid.once({ scope: 's', key: 'k', payload: 1 }, () => (ran = true))
    const error = await call.catch((reason: unknown) => reason)
    expect(error).toMatchObject({ code: 'STORE_UNAVAILABLE', retriable: true })
    expect(ran).toBe(false)
    expect(inspect(error, { depth: 10 })).not.toContain('hunter2')
    await ibid.close()
  })

  it('says what is wrong with a URL without showing it', () => {
    for (const url of [
      'postgres://u:hunter2@ho st/db',
      'mysql://u:hunter2@h/db',
      'postgres://u:hunter2@h:x/db',
    ]) {
      const error = (() => {
        try {
          return postgresStore(url)
        } catch (reason) {
          return reason
        }
      })()
      expect(error).toMatchObject({ code: 'INVALID_INTENT' })
      expect(inspect(error, { depth: 10 })).not.toContain('hunter2')
    }
  })
})

it('[R12] a pool without a limit that gives no connection is not waited for, and gets back what is late', async () => {
  const pool = new Pool({ connectionString: bench.server.url, max: 1 })
  ends.push(() => pool.end())
  const store = bench.open({ connectTimeoutMs: 300 }, pool)
  await put(store)
  const held = await pool.connect()
  await expect(store.get([])).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', retriable: true })
  held.release()
  await put(store)
  expect([pool.totalCount, pool.idleCount]).toEqual([1, 1])
})

describe('a session that the server ends', () => {
  it('is replaced, for statements and for listening', async () => {
    const store = bench.open()
    const heard: string[] = []
    store.watch?.(({ key }) => heard.push(key))
    await put(store)
    await bench.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'ibid'`,
    )
    await eventually(async () => await put(store))
  })
})

async function eventually(work: () => Promise<unknown>): Promise<void> {
  for (let tried = 1; ; tried++) {
    try {
      await work()
      return
    } catch (error) {
      if (tried >= 200) throw error
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
}
