/** [R10] What is told as committed was committed: whatever the work leaves behind, ends by itself or breaks. */
import { Pool, type PoolClient } from 'pg'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createIbid, Rejected } from '../../src/index.js'
import { beginOn, withPostgres } from './bench.js'

const bench = withPostgres()
let pool: Pool
let sql: postgres.Sql

beforeAll(async () => {
  pool = new Pool({ connectionString: bench.server.url })
  sql = postgres(bench.server.url, { onnotice: () => {} })
  await pool.query('create table orders (id text primary key)')
})

afterAll(async () => {
  await Promise.all([pool?.end(), sql?.end()])
})

const begin = beginOn(() => pool)

const INSERT = 'insert into orders values ($1)'

async function orders(id: string): Promise<number> {
  return (await bench.query('select 1 from orders where id = $1', [id])).length
}

describe.each([
  ['of its own', () => bench.open()],
  ["of the caller's library", () => bench.open({ begin })],
  ['of postgres.js', () => bench.open({}, sql)],
])('a transaction %s', (name, open) => {
  it('[R10] is not told as committed when what its work did not wait for fails', async () => {
    const ibid = createIbid({ store: open(), tenant: 'acme', housekeeping: false })
    const order = { scope: 'order', key: `left ${name}` }
    let left: Promise<unknown> | undefined
    const told = ibid.transact(order, async (tx) => {
      await tx.query(INSERT, [order.key])
      left = tx.query(INSERT, [order.key])
      left.catch(() => {})
    })
    await expect(told).rejects.toMatchObject({ code: '23505' })
    await expect(left).rejects.toMatchObject({ code: '23505' })
    expect(await orders(order.key)).toBe(0)
    expect((await ibid.get(order))?.state).toBe('released')
  })

  it('[R10] is not told as committed when its work still asks while the receipt is settled', async () => {
    const ibid = createIbid({ store: open(), tenant: 'acme', housekeeping: false })
    const order = { scope: 'order', key: `late ${name}` }
    let left: Promise<unknown> | undefined
    const told = ibid.transact(order, async (tx) => {
      await tx.query(INSERT, [order.key])
      // The second is asked when the work has returned, and before the commit is.
      left = tx.query('select 1').then(() => tx.query(INSERT, [order.key]))
      left.catch(() => {})
    })
    await expect(told).rejects.toThrow(/transaction has ended; nothing was written/)
    await expect(left).rejects.toThrow(/transaction has ended/)
    expect(await orders(order.key)).toBe(0)
    expect((await ibid.get(order))?.state).toBe('released')
  })

  it('[R10] keeps its receipt when what its work did not wait for goes back to a savepoint', async () => {
    const ibid = createIbid({ store: open(), tenant: 'acme', housekeeping: false })
    const order = { scope: 'order', key: `back ${name}` }
    let left: Promise<unknown> | undefined
    const result = await ibid.transact(order, async (tx) => {
      await tx.query(INSERT, [order.key])
      await tx.query('savepoint optional')
      left = Promise.all([tx.query('select pg_sleep(0.1)'), tx.query('rollback to optional')])
    })
    await left
    expect(result.receipt.state).toBe('succeeded')
    expect(await orders(order.key)).toBe(1)
    const own = createIbid({ store: bench.open(), tenant: 'acme', housekeeping: false })
    expect((await own.get(order))?.state).toBe('succeeded')
  })

  it('[R10] refuses to go back to a savepoint once its receipt is being settled', async () => {
    const ibid = createIbid({ store: open(), tenant: 'acme', housekeeping: false })
    const order = { scope: 'order', key: `too late ${name}` }
    const told = ibid.transact(order, async (tx) => {
      await tx.query(INSERT, [order.key])
      await tx.query('savepoint optional')
      const left = tx.query('select pg_sleep(0.1)').then(() => tx.query('rollback to optional'))
      left.catch(() => {})
    })
    await expect(told).rejects.toThrow(/transaction has ended; nothing was written/)
    expect(await orders(order.key)).toBe(0)
    expect((await ibid.get(order))?.state).toBe('released')
  })
})

it('[R10] a transaction whose client fails after the last word of the work is not told as committed', async () => {
  const ibid = createIbid({ store: bench.open(), tenant: 'acme', housekeeping: false })
  const order = { scope: 'order', key: 'kept client' }
  const told = ibid.transact(order, async (tx) => {
    const client = tx.client as PoolClient
    await client.query(INSERT, [order.key])
    void client.query('select 1').then(() => client.query('select nonsense').catch(() => {}))
  })
  await expect(told).rejects.toThrow(/rolled back; nothing was written/)
  expect(await orders(order.key)).toBe(0)
  expect((await ibid.get(order))?.state).toBe('released')
})

it.each(['commit', 'ROLLBACK', ' -- done\n/* now */ ;end', 'rollback work', 'abort', 'begin'])(
  '[R10] work cannot end its transaction with %j, and keeps or loses nothing by trying',
  async (end) => {
    const ibid = createIbid({ store: bench.open(), tenant: 'acme', housekeeping: false })
    const order = { scope: 'order', key: `ended by ${end}`.replaceAll('\n', ' ') }
    const told = ibid.transact(order, async (tx) => {
      await tx.query(INSERT, [order.key])
      await tx.query(end)
    })
    await expect(told).rejects.toMatchObject({ code: 'INVALID_INTENT' })
    expect(await orders(order.key)).toBe(0)
    expect((await ibid.get(order))?.state).toBe('released')
  },
)

it('[R10] work may go back to a savepoint', async () => {
  const ibid = createIbid({ store: bench.open(), tenant: 'acme', housekeeping: false })
  const order = { scope: 'order', key: 'savepoint' }
  await ibid.transact(order, async (tx) => {
    await tx.query('savepoint here')
    await tx.query(INSERT, [order.key])
    await expect(tx.query(INSERT, [order.key])).rejects.toMatchObject({ code: '23505' })
    await tx.query('rollback work to here')
    await tx.query(INSERT, [order.key])
    await tx.query('rollback to savepoint here')
    await tx.query(INSERT, [order.key])
  })
  expect(await orders(order.key)).toBe(1)
})

it('[R10] a refusal is kept as one although its connection broke before it could be rolled back', async () => {
  const ibid = createIbid({ store: bench.open(), tenant: 'acme', housekeeping: false })
  const order = { scope: 'order', key: 'refused' }
  const told = ibid.transact(order, async (tx) => {
    await tx.query(INSERT, [order.key])
    await expect(tx.query('select pg_terminate_backend(pg_backend_pid())')).rejects.toThrow(/terminat/i)
    throw new Rejected('no stock')
  })
  await expect(told).rejects.toThrow('no stock')
  expect(await orders(order.key)).toBe(0)
  expect((await ibid.get(order))?.state).toBe('failed')
})

it.each([null, undefined])(
  '[R10] work that throws %s is rolled back, and that is what is told',
  async (thrown) => {
    const ibid = createIbid({ store: bench.open(), tenant: 'acme', housekeeping: false })
    const order = { scope: 'order', key: `threw ${String(thrown)}` }
    const told = ibid.transact(order, async (tx) => {
      await tx.query(INSERT, [order.key])
      // oxlint-disable-next-line typescript/only-throw-error
      throw thrown
    })
    await expect(told).rejects.toBe(thrown)
    expect(await orders(order.key)).toBe(0)
    expect((await ibid.get(order))?.state).toBe('released')
  },
)
