/** [R55] What `check` refuses, what it warns of, and what it never says. */
import { Pool } from 'pg'
import postgres from 'postgres'
import { describe, expect, it } from 'vitest'
import { createIbid } from '../../src/index.js'
import { draft } from '../../src/testing/store/drafts.js'
import { withPostgres } from './bench.js'

const bench = withPostgres()

describe('check', () => {
  it('finds nothing wrong with a server as it comes', async () => {
    const { store, findings, facts } = await bench.open().check()
    expect([store, findings]).toEqual(['postgres', []])
    expect(facts).toMatchObject({
      fsync: 'on',
      full_page_writes: 'on',
      synchronous_commit: 'on',
      replicas: 0,
    })
  })

  it('[R55] refuses what can lose or corrupt acknowledged receipts, unless that is accepted by name', async () => {
    const all = [
      ['fsync', 'FSYNC_OFF', 'fsync-off'],
      ['full_page_writes', 'FULL_PAGE_WRITES_OFF', 'full-page-writes-off'],
    ] as const
    for (const [setting, code, risk] of all) {
      await bench.server.set({ [setting]: 'off' })
      await settled(setting, 'off')
      const store = bench.open()
      expect((await store.check()).findings).toMatchObject([{ level: 'error', code }])
      const ibid = createIbid({ store, tenant: 'acme', housekeeping: false })
      const refused = ibid.once({ scope: 's', key: 'k', payload: 1 }, () => 1)
      await expect(refused).rejects.toMatchObject({ code: 'UNSAFE_STORE' })
      const accepted = await bench.open({ accept: [risk] }).check()
      expect(accepted.findings).toMatchObject([{ level: 'warning', code }])
      await bench.server.set({ [setting]: 'on' })
      await settled(setting, 'on')
    }
  })

  it('[R55] refuses unlogged tables', async () => {
    const store = bench.open()
    await store.get([])
    await bench.query(`alter table "${bench.schema}".receipts set unlogged`)
    expect((await store.check()).findings).toMatchObject([{ level: 'error', code: 'UNLOGGED_TABLES' }])
  })

  it('warns of what costs speed', async () => {
    await bench.server.set({ autovacuum: 'off' })
    await settled('autovacuum', 'off')
    const pool = new Pool({
      connectionString: bench.server.url,
      options: '-c default_transaction_isolation=serializable',
    })
    const { findings } = await bench.open({}, pool).check()
    expect(findings.map(({ level, code }) => [level, code])).toEqual([
      ['warning', 'AUTOVACUUM_OFF'],
      ['warning', 'ISOLATION'],
    ])
    await bench.server.set({ autovacuum: 'on' })
    await pool.end()
  })

  it('[R55] refuses a pool that hears no warnings', async () => {
    const options = '-c client_min_messages=error'
    const pool = new Pool({ connectionString: bench.server.url, options })
    const { findings } = await bench.open({}, pool).check()
    expect(findings).toMatchObject([{ level: 'error', code: 'WARNINGS_OFF' }])
    // Sessions of the store's own have what they need.
    const own = bench.open({}, { connectionString: bench.server.url, options })
    expect((await own.check()).findings).toEqual([])
    await pool.end()
  })

  it('[R55] warns of postgres.js where a commit waits for a standby', async () => {
    const sql = postgres(bench.server.url, { onnotice: () => {} })
    expect((await bench.open({}, sql).check()).findings).toEqual([])
    await bench.server.set({ synchronous_standby_names: 'nobody', synchronous_commit: 'local' })
    await settled('synchronous_commit', 'local')
    const { findings } = await bench.open({}, sql).check()
    expect(findings).toMatchObject([{ level: 'warning', code: 'WARNINGS_NOT_SEEN' }])
    await bench.server.set({ synchronous_standby_names: '', synchronous_commit: 'on' })
    await settled('synchronous_commit', 'on')
    await sql.end()
  })

  it('[R55] refuses a database that has not all letters', async () => {
    await bench.query(`create database old encoding 'LATIN1' locale 'C' template template0`)
    const { findings } = await bench.open({}, bench.server.url.replace(/postgres$/, 'old')).check()
    expect(findings).toMatchObject([{ level: 'error', code: 'NOT_UTF8' }])
  })

  it('[R8][R55] refuses a pool whose numbers are rounded; sessions of its own are not', async () => {
    const options = '-c extra_float_digits=0'
    const pool = new Pool({ connectionString: bench.server.url, options })
    const { findings } = await bench.open({}, pool).check()
    expect(findings).toMatchObject([{ level: 'error', code: 'INEXACT_NUMBERS' }])
    await pool.end()
    const own = bench.open({}, { connectionString: bench.server.url, options })
    expect((await own.check()).findings).toEqual([])
    // Told as it is kept, to the last digit.
    const drafts = Array.from({ length: 10 }, () => draft())
    for (const one of drafts) {
      const [claimed] = await own.claim([one])
      const [row] = await bench.query(`select epoch::text from "${bench.schema}".receipts where key = $1`, [
        one.key,
      ])
      expect(claimed).toMatchObject({ epoch: Number(row?.['epoch']) })
    }
  })

  it('never shows a password', async () => {
    const report = JSON.stringify(await bench.open().check())
    expect(report).not.toContain('secret')
  })
})

async function settled(setting: string, value: string): Promise<void> {
  for (;;) {
    const [row] = await bench.query(`select current_setting('${setting}') as now`)
    if (row?.['now'] === value) return
  }
}
