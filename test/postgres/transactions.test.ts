/** [R10] Effect and receipt in one transaction: on the store's own connections, and in one that the caller begins. */
import { once } from 'node:events'
import { sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/node-postgres'
import { CompiledQuery, Kysely, PostgresDialect } from 'kysely'
import { Pool, type PoolClient } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createIbid } from '../../src/index.js'
import type { PostgresBegin, PostgresTransaction } from '../../src/stores/postgres/index.js'
import { beginOn, withPostgres } from './bench.js'

const bench = withPostgres()
let pool: Pool

beforeAll(async () => {
  pool = new Pool({ connectionString: bench.server.url })
  await pool.query('create table orders (id text primary key, total int)')
})

afterAll(async () => await pool?.end())

const begin = beginOn(() => pool)

/** The same with rows as a plain list, which is what some libraries give. */
const beginWithLists: PostgresBegin = async (work) =>
  await begin(async ({ client, query }) =>
    work({
      client,
      async query(text, params) {
        const answer = await query(text, params)
        return 'rows' in answer ? answer.rows : answer
      },
    }),
  )

/** As docs/stores.md has it. */
const beginWithKysely: PostgresBegin = async (work) =>
  await new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) }).transaction().execute(
    async (trx) =>
      await work({
        client: trx,
        query: async (text, params) => (await trx.executeQuery(CompiledQuery.raw(text, [...params]))).rows,
      }),
  )

const beginWithDrizzle: PostgresBegin = async (work) =>
  await drizzle(pool).transaction(
    async (tx) =>
      await work({ client: tx, query: async (text, params) => await tx.execute(drizzled(text, params)) }),
  )

/** `$1` and its like become parameters of Drizzle's own. */
function drizzled(text: string, params: readonly unknown[]): ReturnType<typeof sql> {
  const chunks = text
    .split(/\$(\d+)/)
    .map((part, i) => (i % 2 ? sql`${sql.param(params[Number(part) - 1])}` : sql.raw(part)))
  return sql.join(chunks)
}

describe.each([
  ['of its own', {}],
  ["of the caller's", { begin }],
  ["of the caller's, with rows as lists", { begin: beginWithLists }],
  ['of Kysely', { begin: beginWithKysely }],
  ['of Drizzle', { begin: beginWithDrizzle }],
])('a transaction %s', (name, options) => {
  it('[R10] keeps order and receipt, or neither', async () => {
    const ibid = createIbid({ store: bench.open(options), tenant: 'acme', housekeeping: false })
    const id = `order ${name}`
    const order = { scope: 'order', key: id, payload: { id } }
    const failing = ibid.transact(order, async (tx) => {
      await tx.query('insert into orders values ($1, $2)', [id, 1])
      throw new RangeError('no stock')
    })
    await expect(failing).rejects.toThrow('no stock')
    expect(await bench.query('select * from orders where id = $1', [id])).toEqual([])
    expect((await ibid.get(order))?.state).toBe('released')
    const work = async (tx: Parameters<Parameters<typeof ibid.transact>[1]>[0]) => {
      const { rows } = await tx.query('insert into orders values ($1, $2) returning total', [id, 42])
      return rows[0]?.['total']
    }
    expect(await ibid.transact(order, work)).toMatchObject({ value: 42, replayed: false })
    expect(await ibid.transact(order, work)).toMatchObject({ value: 42, replayed: true })
    expect(await bench.query('select total from orders where id = $1', [id])).toEqual([{ total: 42 }])
  })

  it('[R8][R10] of a zombie changes nothing', async () => {
    const store = bench.open(options)
    const ibid = createIbid({ store, tenant: 'acme', housekeeping: false })
    const id = `zombie ${name}`
    const zombie = ibid.transact(
      { scope: 'order', key: id, payload: 1 },
      async (tx) => {
        await tx.query('insert into orders values ($1, $2)', [id, 1])
        await bench.query(`update "${bench.schema}".receipts set token = 'somebody else' where key = $1`, [
          id,
        ])
      },
      { lease: '1h' },
    )
    await expect(zombie).rejects.toMatchObject({ code: 'LEASE_LOST' })
    expect(await bench.query('select * from orders where id = $1', [id])).toEqual([])
  })
})

describe.each([
  ['of its own', { maxConnections: 2 }],
  ["of the caller's", { begin }],
  ['of Kysely', { begin: beginWithKysely }],
])('[R10] work that hangs in a transaction %s', (name, options) => {
  it('[R10] is rolled back when its time is up, and what it asks later is refused', async () => {
    const store = bench.open(options)
    const ibid = createIbid({ store, tenant: 'acme', housekeeping: false })
    const order = { scope: 'order', key: `hung ${name}` }
    // The connection is there already: only the work takes its time.
    await ibid.transact({ ...order, scope: 'warm' }, () => 0)
    let late: PostgresTransaction | undefined
    const hung = ibid.transact(
      order,
      async (tx) => {
        late = tx
        await tx.query('insert into orders values ($1, $2)', [order.key, 1])
        await new Promise(() => {})
      },
      { lease: 1_000, timeout: 2_000 },
    )
    await expect(hung).rejects.toMatchObject({ code: 'UPSTREAM_TIMEOUT', receipt: { state: 'released' } })
    const insert = late?.query('insert into orders values ($1, $2)', [order.key, 2])
    await expect(insert).rejects.toThrow(/transaction has ended/)
    expect(() => late?.client).toThrow(/transaction has ended/)
    // Neither a lock nor a connection was left behind.
    const again = await ibid.transact(order, async (tx) => {
      await tx.query('insert into orders values ($1, $2)', [order.key, 3])
      return 3
    })
    expect(again.value).toBe(3)
    expect(await bench.query('select total from orders where id = $1', [order.key])).toEqual([{ total: 3 }])
    await ibid.close()
  })
})

/** When a rollback is on its way, and has not been answered. */
function sentRollback(client: PoolClient): Promise<void> {
  const query = client.query.bind(client) as (...asked: unknown[]) => unknown
  return new Promise((resolve) => {
    const watched = (...asked: unknown[]): unknown => {
      if ((asked[0] as { readonly text?: string }).text === 'rollback') resolve()
      return query(...asked)
    }
    Object.assign(client, { query: watched })
  })
}

describe("the store's own transactions", () => {
  it('[R10] close the connection of work that was left behind: a client that it kept writes nothing', async () => {
    const ibid = createIbid({ store: bench.open(), tenant: 'acme', housekeeping: false })
    const insert = `insert into orders values ('kept', 1)`
    await ibid.transact({ scope: 'order', key: 'warm' }, () => 0)
    let late: Promise<unknown> | undefined
    const hung = ibid.transact(
      { scope: 'order', key: 'kept' },
      async (tx) => {
        const client = tx.client as PoolClient
        await Promise.race([once(client, 'end'), sentRollback(client)])
        late = client.query(insert)
        late.catch(() => undefined)
        await late
      },
      { lease: 1_000, timeout: 2_000 },
    )
    await expect(hung).rejects.toMatchObject({ code: 'UPSTREAM_TIMEOUT' })
    await Promise.allSettled([late])
    expect(await bench.query(`select * from orders where id = 'kept'`)).toEqual([])
  })

  it('hand out the client of pg, and are READ COMMITTED whatever the default is', async () => {
    const options = '-c default_transaction_isolation=serializable'
    const own = new Pool({ connectionString: bench.server.url, options })
    const store = bench.open({}, own)
    const isolation = await store.transact?.(async ({ client }) => {
      const { rows } = await (client as Pool).query('show transaction_isolation')
      return rows[0].transaction_isolation as string
    })
    expect(isolation).toBe('read committed')
    await store.close()
    await own.end()
  })

  it('survive a statement of the caller that fails, and leave a clean connection behind', async () => {
    const store = bench.open({ maxConnections: 1 })
    const broken = store.transact?.(async (tx) => await tx.query('select nonsense'))
    await expect(broken).rejects.toMatchObject({ code: '42703' })
    const rows = await store.transact?.(async (tx) => (await tx.query('select 1 as one')).rows)
    expect(rows).toEqual([{ one: 1 }])
  })

  it('do not have the plan settings of the store', async () => {
    const shown = await bench.open().transact?.(async (tx) => (await tx.query('show enable_hashjoin')).rows)
    expect(shown).toEqual([{ enable_hashjoin: 'on' }])
  })
})
