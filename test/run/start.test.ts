/** One run per trigger: who runs, who joins, who gets the outcome, who is told, and what an end means. */
import { describe, expect, test, vi } from 'vitest'
import type { Address } from '../../src/core/receipt.js'
import { createRuns } from '../../src/guards/run/index.js'
import type { Kept } from '../../src/guards/run/start.js'
import { createIbid, NotExecuted, Rejected } from '../../src/index.js'
import type { Store } from '../../src/store.js'
import { bench, failure, gate } from './bench.js'

const BILLING = { agent: 'billing', key: 'evt_1', trigger: { invoice: 7 } }

describe('[R43] a second trigger', () => {
  test('[R43, R6] joins the active run, and gets its id and its outcome', async () => {
    const { worker, time } = bench()
    const [one, two] = [worker(), worker()]
    const { passed, open } = gate<string>()
    const first = one.runs.start(BILLING, () => passed)
    await time.pass(1)
    const second = two.runs.start(BILLING, () => 'never')
    const third = one.runs.start(BILLING, () => 'never')
    await time.pass(100)
    open('paid')
    await time.pass(1_000)
    const { runId } = await first
    expect(await first).toEqual({ value: 'paid', runId, joined: false, replayed: false })
    expect(await second).toEqual({ value: 'paid', runId, joined: true, replayed: true })
    expect(await third).toEqual({ value: 'paid', runId, joined: true, replayed: true })
    expect(runId).toMatch(/^billing:evt_1:[\w-]{16}$/)
  })

  test('[R43, R5] gets the outcome of a run that has ended, marked as a replay', async () => {
    const { worker } = bench()
    const first = await worker().runs.start(BILLING, () => 'paid')
    const again = await worker().runs.start(BILLING, () => 'never')
    expect(again).toEqual({ ...first, joined: false, replayed: true })
  })

  test('[R43] with `cached` does not wait: it is told which run is active, and gets an ended one', async () => {
    const { worker, time } = bench()
    const { passed, open } = gate<string>()
    const first = worker().runs.start(BILLING, () => passed)
    await time.pass(1)
    const other = worker({ policy: { duplicate: 'cached' } }).runs
    const refused = failure(other.start(BILLING, () => 'never'))
    await time.pass(100)
    const error = await refused
    open('paid')
    const { runId } = await first
    expect(error).toMatchObject({ code: 'RETRY_IN_FLIGHT', retriable: true, data: { runId } })
    expect(error.retryAfterMs).toBeGreaterThan(0)
    expect(await other.start(BILLING, () => 'never')).toMatchObject({ value: 'paid', replayed: true })
  })

  test('[R43] with `tell` never gets an outcome, only the id', async () => {
    const { worker } = bench()
    const { runs } = worker({ policy: { duplicate: 'tell' } })
    const { runId } = await runs.start(BILLING, () => 'paid')
    const error = await failure(runs.start(BILLING, () => 'never'))
    expect(error).toMatchObject({ code: 'ALREADY_RUN', retriable: false, data: { runId } })
  })

  test('[R4] with the key of another trigger is a conflict, while that one runs and after', async () => {
    const { worker, time } = bench()
    const { passed, open } = gate<string>()
    const { runs } = worker()
    const first = runs.start(BILLING, () => passed)
    await time.pass(1)
    const other = { ...BILLING, trigger: { invoice: 8 } }
    expect(await failure(runs.start(other, () => 'never'))).toMatchObject({ code: 'KEY_REUSED' })
    open('paid')
    await first
    expect(await failure(worker().runs.start(other, () => 'never'))).toMatchObject({ code: 'KEY_REUSED' })
  })

  test('[R43] without a key is known by its fingerprint, and by what counts in it', async () => {
    const { worker } = bench()
    const { runs } = worker()
    const identity = { ignore: ['sentAt'] }
    const one = await runs.start({ agent: 'a', trigger: { id: 1, sentAt: 10 }, identity }, () => 'one')
    const two = await runs.start({ agent: 'a', trigger: { id: 1, sentAt: 11 }, identity }, () => 'two')
    const three = await runs.start({ agent: 'a', trigger: { id: 2, sentAt: 10 }, identity }, () => 'three')
    const four = await runs.start({ agent: 'b', trigger: { id: 1, sentAt: 10 }, identity }, () => 'four')
    expect([one.value, two.value, three.value, four.value]).toEqual(['one', 'one', 'three', 'four'])
  })

  test('[R1] of another tenant is another run', async () => {
    const { worker } = bench()
    const { runs } = worker()
    const one = await runs.start({ ...BILLING, tenant: 'acme' }, () => 'one')
    const two = await runs.start({ ...BILLING, tenant: 'zeta' }, () => 'two')
    expect([one.value, two.value]).toEqual(['one', 'two'])
    expect(one.runId).not.toBe(two.runId)
  })

  test('[R11, R46] after the window is a new run, which does not meet the steps of the first', async () => {
    const { worker, time } = bench()
    const { runs } = worker({ policy: { window: '1h' } })
    let n = 0
    const first = await runs.start(BILLING, (run) => run.step('count', () => ++n))
    await time.pass(3_600_000)
    const second = await runs.start(BILLING, (run) => run.step('count', () => ++n))
    expect([first.value, second.value]).toEqual([1, 2])
    expect(second.runId).not.toBe(first.runId)
  })
})

function refuse(): never {
  throw new Rejected('no such invoice', { code: 'NO_INVOICE' })
}

describe('the end of a run', () => {
  test('[R9] a rejection is stored, and every duplicate gets it', async () => {
    const { worker } = bench()
    expect(await failure(worker().runs.start(BILLING, refuse))).toMatchObject({ code: 'NO_INVOICE' })
    const again = await failure(worker().runs.start(BILLING, () => 'never'))
    expect(again).toMatchObject({ code: 'NO_INVOICE', replayed: true })
  })

  test('[R9] what was not executed gives the key back, and goes on behind the steps that committed', async () => {
    const { worker } = bench()
    const { runs } = worker()
    let n = 0
    const body = async (run: Parameters<Parameters<typeof runs.start>[1] & object>[0]): Promise<number> => {
      const value = await run.step('count', () => ++n)
      if (run.key === 'evt_1' && calls++ === 0) throw new NotExecuted('not now')
      return value
    }
    let calls = 0
    expect(await failure(runs.start(BILLING, body))).toMatchObject({ code: 'NOT_EXECUTED', retriable: true })
    expect(await runs.start(BILLING, body)).toMatchObject({ value: 1, replayed: false })
  })

  test('[R43] code that throws leaves the run to the next attempt; after the last, a person is asked', async () => {
    const { worker } = bench()
    const { runs, ibid } = worker({ policy: { maxAttempts: 3 } })
    const attempts: number[] = []
    const fail = (run: { readonly attempt: number }): never => {
      attempts.push(run.attempt)
      throw new RangeError('a bug')
    }
    for (let i = 0; i < 2; i++) {
      expect(await failure(runs.start(BILLING, fail))).toMatchObject({ message: 'a bug' })
    }
    expect(await failure(runs.start(BILLING, fail))).toMatchObject({ code: 'OUTCOME_UNKNOWN' })
    expect(attempts).toEqual([1, 2, 3])
    expect(await ibid.get({ scope: 'run:billing', key: 'evt_1' })).toMatchObject({ state: 'unknown' })
  })
})

describe('what a caller gives', () => {
  test.each([
    ['no code', () => undefined, 'NOT_REGISTERED', { agent: 'nobody', trigger: 1 }],
    ['a bad agent', () => () => 1, 'INVALID_INTENT', { agent: 'a:b', trigger: 1 }],
    ['a trigger that is no data', () => () => 1, 'INVALID_INTENT', { agent: 'a', trigger: { n: 2 ** 60 } }],
    [
      'a chain that is none',
      () => () => 1,
      'INVALID_INTENT',
      { agent: 'a', trigger: 1, via: [{ scope: '', key: '' }] },
    ],
  ])('%s is refused before anything runs', async (_what, body, code, trigger) => {
    const { worker } = bench()
    expect(await failure(worker().runs.start(trigger, body() as never))).toMatchObject({ code })
  })

  test.each([
    ['plain', (n: number) => ({ of: { order: n } })],
    ['rich', (n: number) => ({ of: { order: n, at: new Date(0) } })],
  ])('[R43, R4] a %s trigger that is filled anew for the next one changes no run', async (_kind, make) => {
    const { worker, time } = bench()
    const { runs } = worker()
    const reused = make(0)
    const keys = [1, 2, 3]
    const calls = keys.map((n) => {
      reused.of.order = n
      return runs.start({ agent: 'a', key: `evt_${n}`, trigger: reused }, ({ trigger }) => trigger)
    })
    await time.pass(10)
    const started = await Promise.all(calls)
    expect(started.map(({ value }) => value)).toEqual(keys.map(make))
    const again = await runs.start({ agent: 'a', key: 'evt_1', trigger: make(1) }, () => 'never')
    expect(again).toMatchObject({ value: make(1), replayed: true })
    const { receipts } = await worker().ibid.list({ scope: 'trigger:a', limit: 10 })
    const kept = await Promise.all(receipts.map((receipt) => worker().ibid.get(receipt)))
    const triggers = kept.map((receipt) => (receipt?.value as Kept | undefined)?.trigger)
    expect(triggers).toHaveLength(3)
    expect(triggers).toEqual(expect.arrayContaining(keys.map(make)))
  })

  test('a policy that does not exist is refused', async () => {
    const { worker } = bench()
    const duplicate = 'maybe' as 'join'
    expect(() => worker({ policy: { duplicate } })).toThrow(/policy.duplicate/)
    expect(() => worker({ maxActive: 0 })).toThrow(/maxActive/)
  })

  test('[R21] a long key is shortened to one that no other has', async () => {
    const { worker } = bench()
    const { runs } = worker()
    const start = (key: string) => runs.start({ agent: 'a', key, trigger: key }, () => key.at(-1))
    const long = 'x'.repeat(400)
    const [one, two, again] = [await start(`${long}1`), await start(`${long}2`), await start(`${long}1`)]
    expect([one.value, two.value, again.value, again.replayed]).toEqual(['1', '2', '1', true])
  })
})

test('[R43] a trigger that comes for the first time asks the store for nothing but its own receipts', async () => {
  const { store, time } = bench()
  const asked = vi.fn<(at: readonly Address[]) => void>()
  // As the clocks of servers do, this one counts in microseconds.
  const inMicros: Store = {
    ...store,
    async claim(wanted) {
      const answers = await store.claim(wanted)
      return answers.map((answer) => (answer.won ? { ...answer, epoch: answer.epoch + 123 } : answer))
    },
    get(at) {
      asked(at)
      return store.get(at)
    },
  }
  const ibid = createIbid({ store: inMicros, tenant: 'acme', housekeeping: false, timers: time.timers })
  const runs = createRuns({ ibid, timers: time.timers, clock: () => time.clock.now() })
  expect(await runs.start(BILLING, (run) => run.step('charge', () => 'paid'))).toMatchObject({
    value: 'paid',
  })
  expect(asked).not.toHaveBeenCalled()
})
