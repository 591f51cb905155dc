/** Locks and races: what somebody else holds delays nobody else, and batches in any order never deadlock. */
import { Pool, type PoolClient } from 'pg'
import { describe, expect, it, vi } from 'vitest'
import type { Address, Draft, Receipt } from '../../src/core/receipt.js'
import type { Claimed, Store } from '../../src/store.js'
import { change, draft, put } from '../../src/testing/store/drafts.js'
import { compiled, startChild } from '../../src/testing/process/start.js'
import { random } from '../../src/testing/random.js'
import { tally } from '../../src/testing/tally.js'
import { digestOf } from '../../src/stores/postgres/digest.js'
import { withPostgres } from './bench.js'

const bench = withPostgres()

async function inTransaction<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await bench.admin.connect()
  try {
    await client.query('begin')
    return await work(client)
  } finally {
    await client.query('rollback')
    client.release()
  }
}

async function lock(client: PoolClient, { key }: Receipt): Promise<void> {
  await client.query(`select 1 from "${bench.schema}".receipts where key = $1 for update`, [key])
}

/** As another process would, and without a commit. */
async function insert(client: PoolClient, wanted: Address): Promise<void> {
  await client.query(
    `insert into "${bench.schema}".receipts
     select r.digest, 1, 1, 1, 1, 1, 1, 1, 1, 1, false, $1, $2, $3, 'pending', 'hold', 't', 'f', null
     from unnest($4::uuid[]) r (digest)`,
    [wanted.tenant, wanted.scope, wanted.key, [digestOf(wanted)]],
  )
}

describe('a receipt that somebody else has locked', () => {
  it('[R2] delays no claim, its own included', async () => {
    const store = bench.open({ lockTimeoutMs: 60_000, statementTimeoutMs: 60_000 })
    const taken = await put(store)
    await inTransaction(async (client) => {
      await lock(client, taken)
      const batch = [draft(), draft({ key: taken.key, scope: taken.scope, tenant: taken.tenant }), draft()]
      expect((await store.claim(batch)).map(({ won }) => won)).toEqual([true, false, true])
      await client.query(`update "${bench.schema}".receipts set at = at + 1`)
      const again = [draft({ key: taken.key }), draft()]
      expect((await store.claim(again)).map(({ won }) => won)).toEqual([false, true])
      await client.query(`delete from "${bench.schema}".receipts`)
      expect((await store.claim([draft(), draft({ key: taken.key })])).map(({ won }) => won)).toEqual([
        true,
        false,
      ])
    })
  })

  it('[R2] is told to a lone claim of it as it was, also while it is being changed', async () => {
    for (const connection of [bench.server.url, bench.admin]) {
      const open = (): Store => bench.open({ lockTimeoutMs: 3_000, statementTimeoutMs: 3_000 }, connection)
      const taken = await put(open())
      for (const change of ["update §.receipts set token = 'theirs'", 'delete from §.receipts']) {
        const store = open()
        await inTransaction(async (client) => {
          await client.query(change.replace('§', `"${bench.schema}"`))
          for (let i = 0; i < 2; i++) {
            const [answer] = await store.claim([draft({ key: taken.key })])
            expect(answer).toMatchObject({ won: false, found: { token: taken.token } })
          }
          expect(await store.claim([draft()])).toMatchObject([{ won: true }])
        })
      }
    }
  })

  it('does not keep the others of a batch from being settled', async () => {
    for (const connection of [bench.server.url, bench.admin]) {
      const store = bench.open({ lockTimeoutMs: 100 }, connection)
      const receipts = [await put(store), await put(store), await put(store)]
      await inTransaction(async (client) => {
        await lock(client, receipts[1] as Receipt)
        const swapping = store.swap(receipts.map((receipt) => change(receipt, 'succeeded')))
        await expect(swapping).rejects.toThrow('holds a lock on a receipt')
        const { receipts: now } = await store.get(receipts)
        expect(now.map((receipt) => receipt?.state)).toEqual(['succeeded', 'pending', 'succeeded'])
      })
      const [late] = await store.swap([change(receipts[1] as Receipt, 'failed')])
      expect(late?.done).toBe(true)
    }
  })

  it('is settled as soon as it is free', async () => {
    const store = bench.open({ lockTimeoutMs: 20_000 })
    const receipt = await put(store)
    const swapping = await inTransaction(async (client) => {
      await lock(client, receipt)
      const swapping = store.swap([change(receipt, 'succeeded')])
      await untilWaiting()
      return { swapping }
    })
    expect(await swapping.swapping).toMatchObject([{ done: true }])
  })

  it('lets other batches through while one waits for it', async () => {
    const store = bench.open({ lockTimeoutMs: 20_000, statementTimeoutMs: 40_000 })
    const receipt = await put(store)
    const waiting = await inTransaction(async (client) => {
      await lock(client, receipt)
      const swapping = store.swap([change(receipt, 'succeeded')])
      await untilWaiting()
      for (let i = 0; i < 20; i++) {
        const other = await put(store)
        expect(await store.swap([change(other, 'succeeded')])).toMatchObject([{ done: true }])
      }
      return { swapping }
    })
    expect(await waiting.swapping).toMatchObject([{ done: true }])
  })
})

describe('a key that somebody else is inserting', () => {
  it('[R2] is split off: the others of the batch are claimed, and it is refused as long as that lasts', async () => {
    const store = bench.open({ lockTimeoutMs: 50 })
    const stuck = draft()
    await put(store)
    const batch = [
      ...Array.from({ length: 40 }, () => draft()),
      stuck,
      ...Array.from({ length: 40 }, () => draft()),
    ]
    await inTransaction(async (client) => {
      await insert(client, stuck)
      await expect(store.claim(batch)).rejects.toMatchObject({ code: '55P03' })
      const { receipts } = await store.get(batch)
      expect(receipts.filter((receipt) => receipt === undefined)).toHaveLength(1)
    })
    const answers = await store.claim([stuck])
    expect(answers).toMatchObject([{ won: true }])
  })
})

describe('a batch of which one has lost a race', () => {
  it('[R2, R8] tells the other that it won, whoever has taken its receipt over since', async () => {
    const store = bench.open({ lockTimeoutMs: 20_000, statementTimeoutMs: 40_000 })
    const [winner, loser] = [draft(), draft()]
    await put(store)
    await raceFor(store, [draft(), draft()])
    // Somebody else has the winner's receipt as soon as it is there.
    await bench.query(`create function "${bench.schema}".take() returns trigger language plpgsql as $$ begin
      update "${bench.schema}".receipts set token = 'theirs' where key = new.key; return null; end $$`)
    await bench.query(`create trigger take after insert on "${bench.schema}".receipts
      for each row when (new.key = '${winner.key}') execute function "${bench.schema}".take()`)
    expect(await raceFor(store, [winner, loser])).toMatchObject(WON_AND_LOST)
    const { receipts } = await store.get([winner])
    expect(receipts[0]?.token).toBe('theirs')
  })
})

describe('the first race in a while', () => {
  it('[R2, R60] undoes a batch, which goes out again, and is the only one that the server has to tell of', async () => {
    const store = bench.open({ lockTimeoutMs: 20_000, statementTimeoutMs: 40_000 })
    await put(store)
    const before = await undone()
    const first: [Draft, Draft] = [draft(), draft()]
    expect(await raceFor(store, first)).toMatchObject(WON_AND_LOST)
    const { events } = await store.audit({ tenant: first[0].tenant, limit: 10 })
    expect(events.filter(({ key }) => key === first[0].key)).toHaveLength(1)
    expect((await undone()) - before).toBe(1)
    for (let i = 0; i < 3; i++) expect(await raceFor(store, [draft(), draft()])).toMatchObject(WON_AND_LOST)
    expect((await undone()) - before).toBe(1)
  })
})

const WON_AND_LOST = [{ won: true }, { won: false, found: { token: 't' } }]

/** The second of the two is inserted by somebody else, who commits when the store's statement waits for it. */
async function raceFor(store: Store, [winner, loser]: readonly [Draft, Draft]): Promise<readonly Claimed[]> {
  const racing = await inTransaction(async (client) => {
    await insert(client, loser)
    const claiming = store.claim([winner, loser])
    await untilWaiting()
    await client.query('commit')
    return { claiming }
  })
  return await racing.claiming
}

/** How many statements the server has told of in its log because a key was taken. Its log comes a little later. */
async function undone(): Promise<number> {
  const told = (what: string): number => bench.server.output().split(what).length - 1
  const before = told('division by zero')
  await bench.query('select 1/0').catch(() => {})
  await vi.waitUntil(() => told('division by zero') > before)
  return told('duplicate key value violates')
}

describe('batches over the same keys in different orders', () => {
  it('[R60] from eight processes never deadlock', async () => {
    const store = bench.open()
    const addresses = Array.from({ length: 60 }, () => draft())
    await store.get([])
    const before = await deadlocks()
    const children = Array.from({ length: 8 }, () =>
      startChild(compiled('../../src/testing/store/child.js', import.meta.url)),
    )
    const { shuffle } = random(7)
    const module = new URL('../fixtures/postgres-store.mjs', import.meta.url).href
    const context = { id: bench.schema, directory: '', offsetMs: 0 }
    await Promise.all(children.map((child) => child.call('open', { module, context })))
    const claims = await Promise.all(
      children.map((child, c) =>
        child.call<{ won: boolean }[][]>(
          'claim',
          Array.from({ length: 6 }, (_, b) => shuffle(addresses).map((a) => ({ ...a, token: `${c}.${b}` }))),
        ),
      ),
    )
    expect(claims.flat(2).filter(({ won }) => won)).toHaveLength(60)
    const receipts = (await store.get(addresses)).receipts as Receipt[]
    for (let round = 0; round < 4; round++) {
      const swaps = await Promise.all(
        children.map((child) =>
          child.call<{ done: boolean }[][]>(
            'swap',
            Array.from({ length: 6 }, () => shuffle(receipts).map((receipt) => change(receipt, 'pending'))),
          ),
        ),
      )
      tally({ interleavings: 48 })
      expect(swaps.flat(2).every(({ done }) => done)).toBe(true)
    }
    await Promise.all(children.map((child) => child.end()))
    expect((await deadlocks()) - before).toBe(0)
  }, 120_000)
})

describe('a server whose transactions are REPEATABLE READ or stricter', () => {
  for (const isolation of ['repeatable read', 'serializable']) {
    it(`[R2][R60] has one winner per address: ${isolation}`, async () => {
      const options = `-c default_transaction_isolation=${isolation.replace(' ', '\\ ')}`
      const pool = new Pool({ connectionString: bench.server.url, options, max: 10 })
      const store = bench.open({}, pool)
      const own = bench.open({}, { connectionString: bench.server.url, options })
      await Promise.all([store.get([]), own.get([])])
      const addresses = Array.from({ length: 20 }, () => draft())
      const batches = Array.from({ length: 12 }, (_, i) => addresses.map((a) => ({ ...a, token: `${i}` })))
      const answers = await Promise.all(batches.map((batch, i) => (i % 2 ? store : own).claim(batch)))
      expect(answers.flat().filter(({ won }) => won)).toHaveLength(20)
      const receipts = (await store.get(addresses)).receipts as Receipt[]
      const swaps = batches.map((_, i) =>
        (i % 2 ? store : own).swap(receipts.map((receipt) => change(receipt, 'succeeded'))),
      )
      expect((await Promise.all(swaps)).flat().filter(({ done }) => done)).toHaveLength(20)
      await store.close()
      await pool.end()
    })
  }
})

async function deadlocks(): Promise<number> {
  const [row] = await bench.query('select deadlocks from pg_stat_database where datname = current_database()')
  return Number(row?.['deadlocks'])
}

/** Until a session of the store waits for a lock. */
async function untilWaiting(): Promise<void> {
  for (;;) {
    const rows = await bench.query(`select 1 from pg_stat_activity where wait_event_type = 'Lock'`)
    if (rows.length > 0) return
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
