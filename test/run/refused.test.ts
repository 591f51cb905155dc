/** What is refused before anything is written or begun: triggers, ids and code that no run can be made of. */
import { expect, test } from 'vitest'
import { bench, failure, TRIGGER } from './bench.js'

const INVALID = { code: 'INVALID_INTENT', retriable: false }

test('[R43] a trigger that the store cannot keep starts no run, which no other worker could take up', async () => {
  const on = bench()
  const { runs } = on.worker()
  const ran: string[] = []
  const large = { ...TRIGGER, trigger: 'x'.repeat(1_000_000) }
  for (let again = 0; again < 2; again++) {
    expect(await failure(runs.start(large, () => ran.push('ran')))).toMatchObject(INVALID)
  }
  expect(ran).toEqual([])
  const fits = { ...TRIGGER, key: 'evt_2', trigger: 'x'.repeat(900_000) }
  expect(await runs.start(fits, (run) => String(run.trigger).length)).toMatchObject({ value: 900_000 })
})

test('an id of a run that cannot be read is no id', async () => {
  const { runs } = bench().worker()
  expect(await failure(runs.get('billing:%:0123456789abcdef'))).toMatchObject(INVALID)
})

test('[R14] code that is no function is not registered, and no schedule made of it', async () => {
  const on = bench()
  const { runs } = on.worker()
  const none = undefined as never
  expect(() => runs.register('billing', none)).toThrow('is not a function')
  const hourly = { name: 'hourly', cron: '0 * * * *', timeZone: 'UTC' }
  expect(await failure(runs.tick(hourly, none))).toMatchObject(INVALID)
})
