/** What the tables promise behind the verbs: epochs over purges, the frontier of pending receipts, small updates. */
import { describe, expect, it } from 'vitest'
import type { Receipt } from '../../src/core/receipt.js'
import { change, draft, HOUR_MS, put, putAs } from '../../src/testing/store/drafts.js'
import { withPostgres } from './bench.js'

const bench = withPostgres()

describe('epochs', () => {
  it('[R8] start above whatever was purged, whatever the clock says', async () => {
    const store = bench.open()
    const ahead = 4_000_000_000_000_000
    const receipt = await put(store)
    await bench.query(`update "${bench.schema}".receipts set epoch = ${ahead}`)
    await store.swap([change({ ...receipt, epoch: ahead }, 'released', { forMs: 0 })])
    expect(await store.purge(10, HOUR_MS)).toMatchObject({ receipts: 1 })
    expect((await put(bench.open(), { key: receipt.key })).epoch).toBeGreaterThan(ahead)
  })

  it('keep the floor when several purge at once', async () => {
    const store = bench.open()
    const receipts: Receipt[] = []
    for (let i = 0; i < 40; i++) receipts.push(await putAs(store, 'failed', { forMs: 0 }))
    const purged = await Promise.all(Array.from({ length: 8 }, () => bench.open().purge(7, HOUR_MS)))
    expect(purged.reduce((sum, { receipts: count }) => sum + count, 0)).toBe(40)
    const [row] = await bench.query(`select floor from "${bench.schema}".meta`)
    expect(Number(row?.['floor'])).toBe(Math.max(...receipts.map(({ epoch }) => epoch)))
  })
})

describe('pending receipts', () => {
  it('[R14] are found when the frontier has passed them, and until then', async () => {
    const store = bench.open()
    const pending = [await put(store, { forMs: 0 }), await put(store, { forMs: 0 })]
    const settled = await putAs(store, 'succeeded')
    const renewed = await put(store)
    await bench.query(`update "${bench.schema}".receipts set epoch = epoch - 60000000`)
    expect(await keys(store)).toEqual(pending.map(({ key }) => key).sort())
    await bench.open().purge(1, HOUR_MS)
    const [{ frontier }] = (await bench.query(`select frontier from "${bench.schema}".meta`)) as [
      { frontier: string },
    ]
    expect(Number(frontier)).toBeGreaterThanOrEqual(renewed.epoch - 60_000_000)
    const marked = await bench.query(
      `select key from "${bench.schema}".receipts where attention order by key`,
    )
    expect(marked.map(({ key }) => key)).toEqual([...pending, renewed].map(({ key }) => key).sort())
    expect(await keys(store)).toEqual(pending.map(({ key }) => key).sort())
    const [first] = pending as [Receipt]
    await store.swap([
      change(first, 'succeeded'),
      change(renewed, 'pending', { epoch: renewed.epoch, forMs: 0 }),
    ])
    expect(await keys(store)).toEqual([pending[1] as Receipt, renewed].map(({ key }) => key).sort())
    expect(settled.state).toBe('succeeded')
  })

  it('[R14] are found when they came back from another state with an old epoch', async () => {
    const store = bench.open()
    const released = await putAs(store, 'released')
    const ahead = released.epoch + 60_000_000
    await bench.query(`update "${bench.schema}".meta set frontier = ${ahead}`)
    await store.swap([change(released, 'pending', { forMs: 0 })])
    expect(await keys(store)).toEqual([released.key])
    const [claimed] = await store.claim([draft()])
    expect(claimed?.won === true && claimed.epoch).toBeGreaterThan(ahead)
    const [taken] = await store.swap(
      [change(released, 'pending', { epoch: null })].map((swap) => ({
        ...swap,
        expect: { ...swap.expect, state: 'pending' as const },
      })),
    )
    expect(taken?.done === true && taken.epoch).toBeGreaterThan(ahead)
  })

  it('[R14] keep the frontier back while a write may be under way', async () => {
    const store = bench.open()
    await put(store)
    await bench.query(`update "${bench.schema}".receipts set epoch = epoch - 60000000`)
    const writer = await bench.admin.connect()
    await writer.query('begin')
    await writer.query(`lock table "${bench.schema}".receipts in row exclusive mode`)
    await writer.query('select pg_sleep(5.1)')
    await bench.open().purge(1, HOUR_MS)
    await writer.query('rollback')
    writer.release()
    expect(await bench.query(`select frontier from "${bench.schema}".meta`)).toEqual([{ frontier: '0' }])
  })

  it('[R11] that are held are listed, and never purged', async () => {
    const store = bench.open()
    const held = await putAs(store, 'unknown', { forMs: null })
    await putAs(store, 'succeeded')
    const { receipts } = await store.scan({ states: ['unknown'], limit: 10 })
    expect(receipts.map(({ key }) => key)).toEqual([held.key])
    const [row] = await bench.query(`select forget_at from "${bench.schema}".receipts where attention`)
    expect(row).toEqual({ forget_at: null })
  })
})

describe('settling', () => {
  it('[R52] writes into the room on the same page, and no index', async () => {
    const store = bench.open()
    for (let round = 0; round < 20; round++) {
      const scope = `step:agent:${'n'.repeat(36)}:${'m'.repeat(16)}`
      const drafts = Array.from({ length: 50 }, () => draft({ scope, windowMs: HOUR_MS }))
      const claims = await store.claim(drafts)
      const { receipts } = await store.get(drafts)
      expect(claims).toHaveLength(50)
      const outcome = JSON.stringify({ value: 'x'.repeat(350) })
      await store.swap(receipts.map((receipt) => change(receipt as Receipt, 'succeeded', { outcome })))
    }
    const table = `"${bench.schema}".receipts`
    await bench.query(`select pg_stat_force_next_flush()`)
    const hot = async () => {
      const [row] = await bench.query(
        `select n_tup_upd::int as all, n_tup_hot_upd::int as hot
         from pg_stat_user_tables where relid = '${table}'::regclass`,
      )
      return row as { all: number; hot: number }
    }
    await store.close()
    while ((await hot()).all < 1_000) await new Promise((resolve) => setTimeout(resolve, 50))
    const { all, hot: inPlace } = await hot()
    expect(inPlace / all).toBeGreaterThan(0.99)
  })
})

describe('the audit log', () => {
  it('[R50] can be followed past a writer that hangs, without missing what it writes', async () => {
    const store = bench.open()
    const first = await put(store)
    const writer = await bench.admin.connect()
    await writer.query('begin')
    await writer.query(
      `insert into "${bench.schema}".audit (digest, at, epoch, attempt, count, tenant, scope, key, event, fingerprint)
       select digest, at, epoch, attempt, count, tenant, scope, 'late', event, fingerprint
       from "${bench.schema}".audit`,
    )
    const second = await put(store)
    const before = await store.audit({ limit: 10 })
    expect(before.events.map(({ key }) => key)).toEqual([first.key])
    await writer.query('commit')
    writer.release()
    const after = await store.audit({ limit: 10, cursor: before.cursor })
    expect(after.events.map(({ key }) => key)).toEqual(['late', second.key])
  })
})

async function keys(store: ReturnType<typeof bench.open>): Promise<string[]> {
  const { receipts } = await store.scan({ states: ['pending'], ended: true, limit: 100 })
  return receipts.map(({ key }) => key).sort()
}
