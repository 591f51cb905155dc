/** [R6] Waiting duplicates in another process are woken, over reconnects too; nobody else is told anything. */
import { Client } from 'pg'
import postgres from 'postgres'
import { describe, expect, it } from 'vitest'
import type { Store } from '../../src/store.js'
import { change, draft, put } from '../../src/testing/store/drafts.js'
import { withPostgres } from './bench.js'

const bench = withPostgres()

/** Until the listener of `waiter` has heard of a settlement by `settler`: hints may be lost, so it is tried again. */
async function untilTold(settler: Store, waiter: Store, heard: readonly string[]): Promise<string> {
  for (let tried = 1; tried < 100; tried++) {
    const receipt = await put(settler)
    const [lost] = await waiter.claim([draft({ key: receipt.key })])
    expect(lost?.won).toBe(false)
    await new Promise((resolve) => setTimeout(resolve, 20))
    await settler.swap([change(receipt, 'succeeded')])
    for (let i = 0; i < 20 && !heard.includes(receipt.key); i++) {
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    if (heard.includes(receipt.key)) return receipt.key
  }
  throw new Error('nobody was ever told')
}

describe('hints', () => {
  it('[R6] reach who waits, in another store', async () => {
    const [settler, waiter] = [bench.open(), bench.open()]
    const heard: string[] = []
    settler.watch?.(() => {})
    waiter.watch?.(({ key }) => heard.push(key))
    await untilTold(settler, waiter, heard)
  })

  it('[R6] tell of a settlement by a transaction, and over postgres.js', async () => {
    const sql = postgres(bench.server.url, { max: 5, onnotice: () => {} })
    const [settler, waiter] = [bench.open({}, sql), bench.open()]
    const heard: string[] = []
    settler.watch?.(() => {})
    waiter.watch?.(({ key }) => heard.push(key))
    const swapping: Store = {
      ...settler,
      swap: async ([one]) => [await settler.transact!(async (_tx, swap) => await swap(one as never))],
    }
    await untilTold(swapping, waiter, heard)
    await settler.close()
    await sql.end()
  })

  it('come again after the listening connection was lost', async () => {
    const [settler, waiter] = [bench.open(), bench.open()]
    const heard: string[] = []
    settler.watch?.(() => {})
    waiter.watch?.(({ key }) => heard.push(key))
    await untilTold(settler, waiter, heard)
    await bench.query(`select pg_terminate_backend(pid) from pg_stat_activity where query like 'listen%'`)
    await untilTold(settler, waiter, heard)
  })

  it('are not sent for what nobody waits for, and carry no names', async () => {
    const spy = new Client({ connectionString: bench.server.url })
    await spy.connect()
    const payloads: string[] = []
    spy.on('notification', ({ payload }) => payloads.push(payload ?? ''))
    const [settler, waiter] = [bench.open(), bench.open()]
    const heard: string[] = []
    settler.watch?.(() => {})
    waiter.watch?.(({ key }) => heard.push(key))
    await settler.get([])
    const [row] = await bench.query(
      `select substring(query from 'listen "(.*)"') as channel from pg_stat_activity where query like 'listen%'`,
    )
    await spy.query(`listen "${String(row?.['channel'])}"`)
    for (let i = 0; i < 20; i++) {
      const receipt = await put(settler)
      await settler.swap([change(receipt, 'succeeded')])
    }
    expect(payloads).toEqual([])
    const key = await untilTold(settler, waiter, heard)
    await spy.query('select 1')
    expect(payloads.length).toBeGreaterThan(0)
    expect(payloads.join()).not.toContain(key)
    await spy.end()
  })

  it('stop when nobody listens any more', async () => {
    const [settler, waiter] = [bench.open(), bench.open()]
    const heard: string[] = []
    const rest: string[] = []
    settler.watch?.(() => {})
    const stop = waiter.watch?.(({ key }) => heard.push(key))
    waiter.watch?.(({ key }) => rest.push(key))
    stop?.()
    await untilTold(settler, waiter, rest)
    expect(heard).toEqual([])
  })
})
