/** [R10] What is told as committed was committed: whatever the work leaves behind, ends by itself or breaks. */
import { setTimeout as sleep } from 'node:timers/promises'
import { drizzle } from 'drizzle-orm/node-postgres'
import { Pool, type PoolClient } from 'pg'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createIbid, NotExecuted, Rejected } from '../../src/index.js'
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

describe.each([
  ['a client of pg', () => bench.open(), (client: unknown) => (text: string) => (client as Pool).query(text)],
  [
    'Drizzle',
    () => bench.open(),
    (client: unknown) => {
      const db = drizzle(client as PoolClient)
      return async (text: string) => await db.execute(text)
    },
  ],
  [
    'postgres.js',
    () => bench.open({}, sql),
    (client: unknown) => async (text: string) => await (client as postgres.Sql).unsafe(text),
  ],
])('what work that fails leaves running on %s', (name, open, via) => {
  it.each([
    ['fails', () => new RangeError('no stock')],
    ['is refused', () => new Rejected('no stock')],
    ['meets a constraint', () => Object.assign(new Error('no stock'), { code: '23505', severity: 'ERROR' })],
  ])('[R10] keeps nothing when that %s', async (how, failure) => {
    const ibid = createIbid({ store: open(), tenant: 'acme', housekeeping: false })
    const order = { scope: 'order', key: `${how} ${name}` }
    let left: Promise<unknown> | undefined
    const told = ibid.transact(order, async (tx) => {
      const ask = via(tx.client)
      const debit = async (): Promise<void> => {
        await ask(`insert into orders values ('${order.key}')`)
        await ask('select pg_sleep(0.1)')
        await ask(`insert into orders values ('${order.key} fee')`)
      }
      left = debit()
      left.catch(() => {})
      await sleep(40)
      throw failure()
    })
    await expect(told).rejects.toThrow('no stock')
    await expect(left).rejects.toThrow(/connection|queryable|ended|failed/i)
    expect([await orders(order.key), await orders(`${order.key} fee`)]).toEqual([0, 0])
  })
})

it('[R10] a transaction of postgres.js refuses its client when it has ended, savepoints included', async () => {
  const ibid = createIbid({ store: bench.open({}, sql), tenant: 'acme', housekeeping: false })
  const kept: postgres.TransactionSql[] = []
  await ibid.transact({ scope: 'order', key: 'kept sql' }, async (tx) => {
    const client = tx.client as postgres.TransactionSql
    await client.savepoint(async (inner) => {
      kept.push(client, inner)
      await inner`insert into orders values ('inside')`
    })
  })
  for (const client of kept) {
    expect(() => client`insert into orders values ('late')`).toThrow(/transaction has ended/)
    expect(() => client.unsafe('select 1')).toThrow(/transaction has ended/)
    expect(() => client.savepoint(() => [])).toThrow(/transaction has ended/)
  }
  expect([await orders('inside'), await orders('late')]).toEqual([1, 0])
})

it('work that is refused, and has nothing left, keeps its connection', async () => {
  const ibid = createIbid({ store: bench.open({ maxConnections: 1 }), tenant: 'acme', housekeeping: false })
  const pids: unknown[] = []
  for (const refusal of [new Rejected('no stock'), new NotExecuted('no stock'), undefined]) {
    const told = ibid.transact({ scope: 'order', key: `pid ${pids.length}` }, async (tx) => {
      pids.push((await tx.query('select pg_backend_pid() as pid')).rows[0]?.['pid'])
      if (refusal) throw refusal
    })
    expect((await Promise.allSettled([told]))[0].status).toBe(refusal ? 'rejected' : 'fulfilled')
  }
  expect(new Set(pids).size).toBe(1)
})

describe.each([
  [
    'of its own',
    () => bench.open(),
    (client: unknown) => async (text: string) => void (await (client as Pool).query(text)),
    /rolled back; nothing was written/,
  ],
  [
    'of a library of the caller',
    () => bench.open({ begin }),
    (client: unknown) => async (text: string) => void (await (client as Pool).query(text)),
    /rolled back; nothing was written/,
  ],
  [
    'of postgres.js',
    () => bench.open({}, sql),
    (client: unknown) => async (text: string) => void (await (client as postgres.Sql).unsafe(text)),
    // Its own word for a statement of ours that came after the failure; the store's where it came before.
    /rolled back; nothing was written|current transaction is aborted/,
  ],
])('a transaction %s', (name, open, via, says) => {
  it('[R10] whose client fails after the last word of the work is not told as committed', async () => {
    const ibid = createIbid({ store: open(), tenant: 'acme', housekeeping: false })
    const order = { scope: 'order', key: `kept client ${name}` }
    const told = ibid.transact(order, async (tx) => {
      const ask = via(tx.client)
      await ask(`insert into orders values ('${order.key}')`)
      void ask('select 1').then(() => ask('select nonsense').catch(() => {}))
    })
    await expect(told).rejects.toThrow(says)
    expect(await orders(order.key)).toBe(0)
    expect((await ibid.get(order))?.state).toBe('released')
    expect((await ibid.transact(order, () => 'again')).replayed).toBe(false)
  })
})

it.each([
  'commit',
  'ROLLBACK',
  ' -- done\n/* now */ ;end',
  '/* a /* b */ c */ commit',
  'rollback work',
  'abort',
  'begin',
])('[R10] work cannot end its transaction with %j, and keeps or loses nothing by trying', async (end) => {
  const ibid = createIbid({ store: bench.open(), tenant: 'acme', housekeeping: false })
  const order = { scope: 'order', key: `ended by ${end}`.replaceAll('\n', ' ') }
  const told = ibid.transact(order, async (tx) => {
    await tx.query(INSERT, [order.key])
    await tx.query(end)
  })
  await expect(told).rejects.toMatchObject({ code: 'INVALID_INTENT' })
  expect(await orders(order.key)).toBe(0)
  expect((await ibid.get(order))?.state).toBe('released')
})

describe.each([
  ['of its own', () => bench.open()],
  ['of postgres.js', () => bench.open({}, sql)],
])('a transaction %s', (name, open) => {
  it.each(["insert into orders values ('several'); commit", 'commit; begin', 'select 1; commit; begin'])(
    '[R10] takes one statement at a time: not %j',
    async (text) => {
      const ibid = createIbid({ store: open(), tenant: 'acme', housekeeping: false })
      const order = { scope: 'order', key: `several ${text} ${name}` }
      const told = ibid.transact(order, async (tx) => {
        await tx.query(INSERT, [order.key])
        await tx.query(text)
      })
      await expect(told).rejects.toThrow(/multiple commands|not for the work/)
      expect([await orders(order.key), await orders('several')]).toEqual([0, 0])
      expect((await ibid.get(order))?.state).toBe('released')
    },
  )
})

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
