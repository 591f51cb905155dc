/** Whose policy holds: what the worker, the agent and the call declare, each for the members that it names. */
import { expect, test } from 'vitest'
import type { RunPolicy, RunsOptions } from '../../src/guards/run/index.js'
import { bench, failure, TRIGGER } from './bench.js'

const QUIET = { cancelEvery: 0, recoverEvery: false } as const
const bug = (): never => {
  throw new RangeError('a bug')
}

test.each<[string, RunsOptions['policy'], RunPolicy | undefined, RunPolicy | undefined]>([
  ["the agent's, where the call declares something else", undefined, { maxAttempts: 1 }, { wait: '5s' }],
  [
    "the agent's, where the call's is undefined",
    undefined,
    { maxAttempts: 1 },
    { maxAttempts: undefined as never },
  ],
  [
    "the worker's, where the agent's is undefined",
    { maxAttempts: 1 },
    { maxAttempts: undefined as never },
    undefined,
  ],
  ["the call's, where all declare one", { maxAttempts: 3 }, { maxAttempts: 2 }, { maxAttempts: 1 }],
])('[R14] a limit is %s', async (_whose, ofWorker, ofAgent, ofCall) => {
  const { runs } = bench().worker({ ...QUIET, ...(ofWorker && { policy: ofWorker }) })
  runs.register('billing', bug, ofAgent)
  expect(await failure(runs.start(TRIGGER, undefined, ofCall))).toMatchObject({ code: 'OUTCOME_UNKNOWN' })
})

test('[R14] a limit of the worker holds for its ticks, which are remembered for as long as they say', async () => {
  const on = bench(Date.UTC(2030, 5, 1, 11, 59))
  const { runs, ibid } = on.worker({ ...QUIET, policy: { maxAttempts: 1, window: '1h', duplicate: 'join' } })
  await runs.tick({ name: 'noon', cron: '0 12 * * *', timeZone: 'UTC', keep: '2d' }, bug)
  await on.time.pass(120_000)
  const { receipts } = await ibid.list({ scope: 'run:cron.noon' })
  expect(receipts).toMatchObject([{ state: 'unknown', windowMs: 2 * 86_400_000 }])
})
