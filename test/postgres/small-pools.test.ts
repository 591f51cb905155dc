/** A connection that listens is one that nobody else has: the smallest pools work as the others do, only without it. */
import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'pg'
import { expect, it } from 'vitest'
import { createIbid } from '../../src/index.js'
import { withPostgres } from './bench.js'

const bench = withPostgres()

/** As long as nobody who has a connection needs. */
function inTime<T>(asked: Promise<T>): Promise<T | 'late'> {
  return Promise.race([asked, sleep(10_000, 'late' as const)])
}

it('[R10] a pool of one connection that is given serves every call', async () => {
  const pool = new Pool({ connectionString: bench.server.url, max: 1 })
  const ibid = createIbid({ store: bench.open({}, pool), tenant: 'acme', housekeeping: false })
  expect(await inTime(ibid.once({ scope: 'small', key: 'once' }, () => 1))).toMatchObject({ value: 1 })
  const work = ibid.transact({ scope: 'small', key: 'transact' }, async (tx) => {
    return (await tx.query('select 2 as two')).rows
  })
  expect(await inTime(work)).toMatchObject({ value: [{ two: 2 }] })
  await ibid.close()
  await pool.end()
})

it.each([
  ['maxConnections', { maxConnections: 1 }, undefined],
  ['the max of a configuration', {}, { max: 1 }],
])('[R10] of one connection by %s, the store has another one to listen on', async (_, options, config) => {
  const connection = config && { ...config, connectionString: bench.server.url }
  const store = bench.open({ connectTimeoutMs: 2_000, ...options }, connection)
  const ibid = createIbid({ store, tenant: 'acme', housekeeping: false })
  const key = `own ${JSON.stringify(options)}`
  await ibid.once({ scope: 'small', key: `${key} first` }, () => 1)
  const listening = `select 1 from pg_stat_activity where application_name = 'ibid' and query like 'listen%'`
  await expect.poll(async () => (await bench.query(listening)).length).toBe(1)
  const work = ibid.transact({ scope: 'small', key }, async (tx) => (await tx.query('select 2 as two')).rows)
  expect(await inTime(work)).toMatchObject({ value: [{ two: 2 }] })
  await ibid.close()
})
