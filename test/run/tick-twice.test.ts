/** Ticks that could run twice: on a worker that stood still until they were forgotten. */
import { expect, test } from 'vitest'
import { createRuns, type TickOptions } from '../../src/guards/run/index.js'
import { createIbid } from '../../src/index.js'
import type { Store } from '../../src/store.js'
import { bench, gate } from './bench.js'

const HOUR_MS = 3_600_000
const QUIET = { recoverEvery: false, cancelEvery: 0 } as const
const startMs = Date.UTC(2030, 5, 2, 22)
const sixHourly = { name: 'payout', cron: '0 */6 * * *', timeZone: 'UTC' } as const

test.each<[string, Partial<TickOptions>, number]>([
  ['the last tick', { cron: '0 0 * * MON' }, 50],
  ['all ticks', { catchUp: 'all' }, 60],
])(
  '[R44] a worker that was suspended for longer than ticks are remembered runs none again: %s caught up',
  async (_what, options, hours) => {
    const on = bench(startMs)
    const [one, two] = [on.worker(QUIET), on.worker(QUIET)]
    const ran: string[] = []
    for (const { runs } of [one, two]) {
      await runs.tick({ ...sixHourly, ...options }, (_run, { at }) => ran.push(at.toISOString()))
    }
    await on.time.pass(60_000)
    two.pause()
    await on.time.pass(hours * HOUR_MS)
    two.resume()
    await on.time.pass(60_000)
    expect(ran).not.toEqual([])
    expect(ran).toEqual([...new Set(ran)])
  },
)

test('[R44] a worker that stood still between its choice of a tick and its claim does not run it again', async () => {
  const on = bench(startMs)
  const { timers } = on.time.worker()
  const { passed, open } = gate()
  const standing: Store = Object.assign(Object.create(on.store) as Store, {
    async claim(...[drafts]: Parameters<Store['claim']>) {
      if (drafts.some(({ scope }) => scope === 'run:cron.payout')) await passed
      return on.store.claim(drafts)
    },
  })
  const ibid = createIbid({ store: standing, tenant: 'acme', housekeeping: false, timers })
  const clock = (): number => on.time.clock.now()
  const two = createRuns({ ibid, timers, clock, ...QUIET })
  const one = on.worker(QUIET)
  const ran: string[] = []
  for (const [by, runs] of Object.entries({ one: one.runs, two })) {
    await runs.tick(sixHourly, (_run, { at }) => ran.push(`${at.toISOString().slice(0, 13)} by ${by}`))
  }
  await on.time.pass(3 * HOUR_MS)
  one.stop()
  await on.time.pass(26 * HOUR_MS)
  open()
  await on.time.pass(60_000)
  expect(ran.filter((what) => what.startsWith('2030-06-03T00'))).toEqual(['2030-06-03T00 by one'])
})
