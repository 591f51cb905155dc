/** What is refused before anything is written or begun: triggers, ids and code that no run can be made of. */
import { expect, test } from 'vitest'
import type { Run, Runs } from '../../src/guards/run/index.js'
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

test.each([
  ['one that is misspelt', { perTenent: 2 }, 'perTenent is not an option of maxActive'],
  ['a list', [], 'maxActive is neither a number nor an object'],
  ['a word', 'many', 'maxActive is neither a number nor an object'],
])('[R43] a limit that is %s is not taken for none', (_what, maxActive, message) => {
  expect(() => bench().worker({ maxActive: maxActive as never })).toThrow(message)
})

test.each<[string, (run: Run) => Promise<unknown>, string]>([
  ['a sleep until nothing', (run) => run.sleepUntil(null as never), 'sleepUntil'],
  ['a sleep until an empty text', (run) => run.sleepUntil('' as never), 'sleepUntil'],
  ['half a character as a place', (run) => run.step('a', () => 1, { place: '\ud800' }), 'place'],
  ['a symbol as a place', (run) => run.step('a', () => 1, { place: Symbol('a') as never }), 'place'],
  ['half a character as a tool', (run) => run.call({ call: () => ({}) } as never, '\ud800', {}), 'tool'],
])('[R45] %s is refused, and nothing is executed', async (_what, act, field) => {
  const { runs } = bench().worker()
  const told = await runs.start(TRIGGER, async (run) => {
    const { code, message } = await failure(act(run))
    return { code, message }
  })
  expect(told.value).toMatchObject({ code: INVALID.code })
  expect(told.value.message).toContain(field)
})

test.each<[string, (runs: Runs) => Promise<unknown>, string]>([
  ['no trigger', (runs) => runs.start(null as never, () => 1), 'trigger'],
  ['a chain with a hole', (runs) => runs.start({ ...TRIGGER, via: [null as never] }, () => 1), 'missing'],
  ['no query', (runs) => runs.list(undefined as never), 'agent'],
])('%s is refused by its name', async (_what, act, field) => {
  const error = await failure(act(bench().worker().runs))
  expect(error).toMatchObject(INVALID)
  expect(error.message).toContain(field)
})
