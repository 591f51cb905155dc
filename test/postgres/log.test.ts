/** The audit log's rows of several events: how they are kept, followed past a writer that hangs, and shortened. */
import { Client } from 'pg'
import { describe, expect, it, vi } from 'vitest'
import type { AuditEvent } from '../../src/core/audit.js'
import type { Draft, Receipt } from '../../src/core/receipt.js'
import type { Store } from '../../src/store.js'
import { type Migration, migrations } from '../../src/stores/postgres/index.js'
import { events } from '../../src/testing/store/audit.js'
import { change, draft, put } from '../../src/testing/store/drafts.js'
import { withPostgres } from './bench.js'

const bench = withPostgres()

function many(count: number, fields: (i: number) => Partial<Draft> = () => ({})): Draft[] {
  return Array.from({ length: count }, (_, i) => draft(fields(i)))
}

const rows = async (): Promise<Readonly<Record<string, unknown>>[]> =>
  await bench.query(
    `select event, size, cardinality(marks) as marks from "${bench.schema}".audit order by row_id`,
  )

const keysOf = (all: readonly AuditEvent[]): string[] => all.map(({ key }) => key)

describe('a batch in the log', () => {
  it('is one row where all are noted alike, whosever they are', async () => {
    const store = bench.open()
    const wanted = many(20, (i) => ({ tenant: `t${i % 3}`, scope: `s${i}` }))
    await store.claim(wanted)
    const { receipts } = await store.get(wanted)
    await store.swap((receipts as Receipt[]).map((receipt) => change(receipt, 'succeeded')))
    expect(await rows()).toEqual([
      { event: 'claimed', size: 20, marks: 20 },
      { event: 'settled', size: 20, marks: 20 },
    ])
    expect(await events(store, {})).toHaveLength(40)
  })

  it.each([
    ['both names', 1, 1],
    ['the tenant', 1, 3],
    ['the scope', 3, 1],
    ['no name', 3, 3],
  ])('has %s once where it is the same in all, and is found by any of them', async (_, tenants, scopes) => {
    const store = bench.open()
    const wanted = many(20, (i) => ({ tenant: `t${i % tenants}`, scope: `s${i % scopes}` }))
    await store.claim(wanted)
    const { receipts } = (await store.get(wanted)) as { receipts: readonly Receipt[] }
    await store.swap(receipts.map((receipt) => change(receipt, 'succeeded')))
    const [claimed, settled] =
      await bench.query(`select tenant, scope, attempt, epoch::float8, tenants, scopes
      from "${bench.schema}".audit order by row_id`)
    for (const row of [claimed, settled]) {
      expect([row?.['tenant'], row?.['tenants'] === null]).toEqual([
        tenants === 1 ? 't0' : null,
        tenants === 1,
      ])
      expect([row?.['scope'], row?.['scopes'] === null]).toEqual([scopes === 1 ? 's0' : null, scopes === 1])
    }
    expect(claimed).toMatchObject({ attempt: 1, epoch: receipts[0]?.epoch })
    for (const { tenant, scope, key, epoch, attempt, fingerprint } of receipts) {
      const own = ['claimed', 'settled'].map((event) => ({
        event,
        epoch,
        attempt,
        fingerprint,
        scope,
        tenant,
      }))
      expect(await events(store, { tenant, scope, key })).toMatchObject(own)
      expect(await events(store, { key })).toMatchObject(own)
    }
    const of = (names: { tenant?: string; scope?: string }) => events(store, names, 7)
    expect(await of({ tenant: 't0' })).toHaveLength(tenants === 1 ? 40 : 14)
    expect(await of({ scope: 's0' })).toHaveLength(scopes === 1 ? 40 : 14)
    expect(await of({ tenant: 't9' })).toEqual([])
    expect(await of({ scope: 's9' })).toEqual([])
    const all = await events(store, {})
    await new Promise((resolve) => setTimeout(resolve, 10))
    expect((await store.purge(11, 1)).events).toBe(11)
    expect(await events(store, {})).toEqual(all.slice(11))
  })

  it('has the epoch that its claims brought', async () => {
    const store = bench.open()
    await store.claim(many(20, () => ({ epoch: 7, createdAt: 5 })))
    expect((await events(store, {})).map(({ epoch }) => epoch)).toEqual(Array.from({ length: 20 }, () => 7))
  })

  it('is a row for each where they are not, or are few, or more than a row has room for', async () => {
    const store = bench.open()
    const mixed = many(20)
    await store.claim(mixed)
    const { receipts } = await store.get(mixed)
    const [first, ...others] = receipts as [Receipt, ...Receipt[]]
    await store.swap([change(first, 'failed'), ...others.map((receipt) => change(receipt, 'succeeded'))])
    const one = { event: 'settled', size: null, marks: null }
    expect((await rows()).slice(-20)).toEqual(Array.from({ length: 20 }, () => one))
    await store.claim(many(1_025))
    expect(await rows()).toHaveLength(1 + 20 + 1_025)
    await store.claim(many(15))
    expect(await rows()).toHaveLength(1 + 20 + 1_025 + 15)
    await store.claim(many(1_024))
    expect((await rows()).at(-1)).toEqual({ event: 'claimed', size: 1_024, marks: 1_024 })
    expect(await events(store, {}, 500)).toHaveLength(20 + 20 + 1_025 + 15 + 1_024)
  })

  it('[R50] of receipts that are forgotten is one, too, and found by their addresses', async () => {
    const store = bench.open()
    for (const count of [1_030, 15]) {
      const wanted = many(count, (i) => ({ tenant: `t${i % 3}` }))
      await store.claim(wanted)
      const { receipts } = await store.get(wanted)
      await store.swap((receipts as Receipt[]).map((receipt) => change(receipt, 'succeeded', { forMs: 1 })))
      await new Promise((resolve) => setTimeout(resolve, 10))
      const before = (await rows()).length
      expect((await store.purge(2_000, 3_600_000)).receipts).toBe(count)
      const sizes = (await rows()).slice(before).map(({ event, size, marks }) => `${event} ${size} ${marks}`)
      const each = Array.from({ length: 15 }, () => 'expired null null')
      expect(sizes.sort()).toEqual(count === 15 ? each : ['expired 1024 1024', 'expired 6 6'])
      for (const receipt of (receipts as Receipt[]).slice(0, 20)) {
        const { tenant, scope, key, epoch, attempt, fingerprint } = receipt
        const found = await events(store, { tenant, scope, key })
        expect(found).toHaveLength(3)
        expect(found[2]).toMatchObject({
          event: 'expired',
          state: null,
          epoch,
          attempt,
          fingerprint,
          count: 1,
        })
      }
    }
  })

  it('leaves no row where none of it was done', async () => {
    const store = bench.open()
    const wanted = many(20)
    await store.claim(wanted)
    await store.claim(wanted)
    expect(await rows()).toHaveLength(1)
  })
})

describe('following it', () => {
  it('[R50] goes up to a writer that hangs, also from within a batch, and misses nothing', async () => {
    const store = bench.open()
    await store.claim(many(16))
    const writer = await bench.admin.connect()
    await writer.query('begin')
    await writer.query(`insert into "${bench.schema}".audit (at, count, event, size, dropped, marks,
        epoch, attempt, tenant, scope, keys, fingerprints)
      select at, count, event, 2, 0, marks, epoch, attempt, tenant, scope, '{late,later}', fingerprints[:2]
      from "${bench.schema}".audit`)
    await store.claim(many(16))
    const early = await store.audit({ limit: 2 })
    const before = await store.audit({ limit: 50, cursor: early.cursor })
    expect([early.events.length, before.events.length]).toEqual([2, 14])
    const waits = await store.audit({ limit: 50, cursor: before.cursor })
    expect(waits).toEqual({ events: [], cursor: before.cursor })
    await writer.query('commit')
    writer.release()
    const after = await store.audit({ limit: 50, cursor: before.cursor })
    expect(keysOf(after.events).slice(0, 2)).toEqual(['late', 'later'])
    expect(after.events).toHaveLength(18)
  })

  it('asks nobody to finish where there is nothing new', async () => {
    const store = bench.open()
    await store.claim(many(16))
    const { cursor } = await store.audit({ limit: 50 })
    const sent = vi.spyOn(Client.prototype, 'query')
    expect((await store.audit({ limit: 50, cursor })).events).toEqual([])
    const names = sent.mock.calls.map(([query]) => (query as unknown as { readonly name?: string }).name)
    sent.mockRestore()
    expect(names.filter((name) => name?.startsWith('ibid_audit_end'))).toHaveLength(1)
    expect(names.filter((name) => name?.startsWith('ibid_audit_writers'))).toEqual([])
  })

  it('[R52] goes on from a cursor of the version before', async () => {
    const [first, second] = migrations(bench.schema) as [Migration, Migration]
    await bench.admin.query(first.sql)
    await bench.admin.query(second.sql)
    await bench.query(`insert into "${bench.schema}".audit
        (digest, at, epoch, attempt, count, tenant, scope, key, event, state, fingerprint)
      select gen_random_uuid(), i, i, 1, 1, 't', 's', 'old' || i, 'claimed', 'pending', 'f'
      from generate_series(1, 2000) i`)
    const store = bench.open()
    await store.claim(many(16))
    await put(store)
    const after = await store.audit({ limit: 50, cursor: '1998' })
    expect(keysOf(after.events).slice(0, 2)).toEqual(['old1999', 'old2000'])
    expect(after.events).toHaveLength(19)
    const back = await store.audit({ limit: 17, newestFirst: true })
    expect(keysOf(back.events)).toEqual(keysOf(after.events).toReversed().slice(0, 17))
    const on = await store.audit({ limit: 2_500, newestFirst: true, cursor: back.cursor })
    expect(keysOf(on.events)[0]).toBe('old2000')
    expect(on.events).toHaveLength(2_000)
  })
})

describe('shortening it', () => {
  it('[R11] by several processes at once drops each event once, and goes on to the end', async () => {
    const stores = Array.from({ length: 4 }, () => bench.open({ maxConnections: 2 }))
    const [store] = stores as [Store]
    for (let i = 0; i < 8; i++) {
      await store.claim(many(25))
      await put(store)
    }
    await new Promise((resolve) => setTimeout(resolve, 20))
    const all = keysOf(await events(store, {}))
    const limits = [1, 2, 3, 5]
    let dropped = 0
    for (let round = 0; round < 15; round++) {
      const purged = await Promise.all(stores.map((one, i) => one.purge(limits[i] as number, 10)))
      purged.forEach(({ events: some }, i) => {
        expect(some).toBeLessThanOrEqual(limits[i] as number)
        dropped += some
      })
      // Not always the very first: a row that somebody else has is passed over.
      const left = keysOf(await events(store, {}, 20))
      expect(left).toHaveLength(all.length - dropped)
      expect(all.filter((key) => left.includes(key))).toEqual(left)
    }
    // As housekeeping does it: fewer than the limit means that there is no more.
    const swept = stores.map(async (one) => {
      let sum = 0
      for (let some = 7; some === 7; sum += some) some = (await one.purge(7, 10)).events
      return sum
    })
    for (const sum of await Promise.all(swept)) dropped += sum
    expect(dropped).toBe(all.length)
    expect(await rows()).toEqual([])
  })

  it('passes over a row that somebody else has, and makes up for it', async () => {
    const store = bench.open()
    await store.claim(many(16))
    for (let i = 0; i < 3; i++) await put(store)
    await store.claim(many(17))
    await new Promise((resolve) => setTimeout(resolve, 20))
    const other = await bench.admin.connect()
    await other.query('begin')
    await other.query(`select from "${bench.schema}".audit order by row_id limit 1 for update`)
    expect((await store.purge(5, 10)).events).toBe(5)
    expect((await store.purge(2 ** 40, 10)).events).toBe(15)
    await other.query('rollback')
    other.release()
    expect((await store.purge(1, 10)).events).toBe(1)
    expect(await events(store, {})).toHaveLength(15)
  })
})
