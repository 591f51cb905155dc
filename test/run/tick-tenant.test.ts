/** Whose tick it is, where its declaration does not say so. */
import { expect, test } from 'vitest'
import { createRuns, type Runs } from '../../src/guards/run/index.js'
import { createIbid } from '../../src/index.js'
import { bench, failure, forever } from './bench.js'

const HOUR_MS = 3_600_000
const hourly = { name: 'payout', cron: '0 * * * *', timeZone: 'UTC', policy: { lease: '1s' } } as const

test('[R44, R45] a tick that names no tenant is never run with the code of another tenant', async () => {
  const on = bench(Date.UTC(2030, 5, 1))
  const ran: string[] = []
  const worker = (tenant: string): { readonly runs: Runs; stop(): void } => {
    const { timers, stop } = on.time.worker()
    const ibid = createIbid({ store: on.store, tenant, housekeeping: false, timers })
    const clock = (): number => on.time.clock.now()
    return { stop, runs: createRuns({ ibid, timers, clock, cancelEvery: 0, tenants: ['acme', 'beta'] }) }
  }
  const code = (of: string) => (run: { readonly tenant: string }) =>
    ran.push(`${run.tenant} by the code of ${of}`)
  const beta = worker('beta')
  await beta.runs.tick(hourly, forever)
  await on.time.pass(HOUR_MS + 100)
  beta.stop()
  await worker('acme').runs.tick(hourly, code('acme'))
  await on.time.pass(60_000)
  expect(ran).toEqual([])
  await worker('beta').runs.tick(hourly, code('beta'))
  await on.time.pass(60_000)
  expect(ran).toEqual(['beta by the code of beta'])
  await on.time.pass(HOUR_MS)
  expect(ran.slice(1).toSorted()).toEqual(['acme by the code of acme', 'beta by the code of beta'])
})

test('[R44] a tick that was refused, because it has no tenant at all, is the code of nobody', async () => {
  const { store, time } = bench(Date.UTC(2030, 5, 1))
  const { timers } = time.worker()
  const ibid = createIbid({ store, housekeeping: false, timers })
  const runs = createRuns({ ibid, timers, clock: () => time.clock.now() })
  expect(await failure(runs.tick(hourly, () => 0))).toMatchObject({ code: 'INVALID_INTENT' })
  const given = { tenant: 'beta', agent: 'cron.payout', trigger: 1 }
  expect(await failure(runs.start(given))).toMatchObject({ code: 'NOT_REGISTERED' })
})
