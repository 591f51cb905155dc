/** What a second trigger is told is about its own run: one that failed, or one that met another on its way. */
import { expect, test } from 'vitest'
import { Rejected } from '../../src/index.js'
import { bench, failure, forever, TRIGGER } from './bench.js'

function refuse(): never {
  throw new Rejected('the card is stolen')
}

test('[R43] of a run that has failed, a second trigger that wants word alone gets word alone', async () => {
  const on = bench()
  const { runs } = on.worker({ policy: { duplicate: 'tell' } })
  expect(await failure(runs.start(TRIGGER, refuse))).toMatchObject({ code: 'REJECTED', replayed: false })
  const told = await failure(runs.start(TRIGGER, refuse))
  expect(told).toMatchObject({ code: 'ALREADY_RUN', receipt: { state: 'failed' } })
  expect(told.message).toContain('which failed')
})

test('[R43] a run that finds the same trigger active for another tenant is not taken for that one', async () => {
  const on = bench()
  const { runs } = on.worker({ policy: { wait: 0 } })
  void runs.start({ ...TRIGGER, tenant: 'zeta' }, forever)
  await on.time.pass(10)
  let ran = 0
  const error = failure(
    runs.start(TRIGGER, async () => {
      ran++
      await runs.start({ ...TRIGGER, tenant: 'zeta' }, forever)
    }),
  )
  await on.time.pass(10)
  const { runs: zetas } = await runs.list({ tenant: 'zeta', agent: 'billing' })
  expect(await error).toMatchObject({ code: 'RETRY_IN_FLIGHT', data: { runId: zetas[0]?.runId } })
  expect(ran).toBe(1)
})
