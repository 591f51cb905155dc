/** The commands on a Postgres server: the same answers as on a file, and its password in none of them. */
import { readdirSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type PostgresServer, startPostgres } from '../../scripts/servers/postgres.mjs'
import { createIbid, OutcomeUnknown } from '../../src/index.js'
import { postgresStore } from '../../src/stores/postgres/index.js'
import { folder, ibid, type Ran } from './command.js'

let server: PostgresServer

beforeAll(async () => {
  server = await startPostgres({ password: 'tr0ub4dor' })
  const own = createIbid({ store: postgresStore(server.url), tenant: 'acme', housekeeping: false })
  for (let i = 0; i < 5; i++) await own.once({ scope: 's', key: `k${i}`, payload: { i } }, () => i)
  await own.once({ scope: 's', key: 'k0', payload: { i: 0 } }, () => 0)
  const lost = own.once({ scope: 's', key: 'lost' }, () => Promise.reject(new OutcomeUnknown('?')))
  await expect(lost).rejects.toThrow('?')
  await own.close()
})

afterAll(async () => await server?.stop())

async function at(...args: string[]): Promise<Ran> {
  const ran = await ibid([...args, '--json'], { env: { IBID_STORE: server.url, IBID_TENANT: 'acme' } })
  expect(ran.stdout + ran.stderr).not.toContain('tr0ub4dor')
  return ran
}

test('inspect, held, resolve, sweep, scan, plan, archive, doctor', async () => {
  expect((await at('inspect', 's', 'k0')).json()).toMatchObject({
    receipt: { state: 'succeeded', value: 0 },
    history: [{ event: 'claimed' }, { event: 'settled' }, { event: 'dedup_hit' }],
  })
  expect((await at('held')).json()).toMatchObject({ total: 1, held: [{ key: 'lost' }] })
  const resolved = await at('resolve', 's', 'lost', '--as', 'succeeded', '--by', 'ana', '--why', 'seen')
  expect(resolved.json()).toMatchObject({ receipt: { state: 'succeeded' } })
  expect((await at('sweep')).json()).toMatchObject({ held: 0, purged: 0 })
  expect((await at('scan')).json()).toMatchObject({ findings: [] })
  expect((await at('plan', '--store', server.url)).json()).toMatchObject({
    observed: { originals: 6, duplicates: 1 },
  })
  const to = folder()
  const archived = await ibid(['archive', '--to', to, '--older-than', '0', '--delete', '--json'], {
    env: { IBID_STORE: server.url },
  })
  expect(archived.json()).toMatchObject({ rows: 6, purged: 0 })
  expect(
    readdirSync(to)
      .toSorted()
      .map((name) => name.replace(/^.*?(?=\.(ndjson|manifest))/, '')),
  ).toEqual(['.ndjson.gz', '.manifest.json'])
  const doctor = await at('doctor')
  expect(doctor.json()).toMatchObject({ facts: { clock: { 'whose clock': "the store's" } } })
})
