/** Rollbacks: in what order, what is checked first, what is left to a person, and what a late step meets. */
import { EventEmitter, once } from 'node:events'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { beforeEach, describe, expect, test } from 'vitest'
import type { Step } from '../../src/guards/saga/index.js'
import { NotExecuted, Rejected } from '../../src/index.js'
import { type Bench, bench } from './bench.js'

let at: Bench
beforeEach(() => {
  at = bench()
})

/** A step that fails without a word, after what it does has happened or before. */
function broken(name: string, more: Partial<Step> = {}): Step {
  return at.step(name, {
    do() {
      at.effects.push(`do ${name}`)
      throw new TypeError('connection reset')
    },
    ...more,
  })
}

async function begun(...steps: readonly Step[]): Promise<void> {
  const saga = at.saga()
  for (const step of steps) await saga.step(step).catch(() => undefined)
}

describe('a rollback', () => {
  test('[R39] goes from the last step to the first, over all processes that ran one', async () => {
    const [a, b, c] = [at.step('z'), at.step('m'), at.step('a')]
    await begun(a, b)
    await begun(a, c)
    const report = await at.saga({ steps: [a, b, c] }).compensate()
    expect(report).toMatchObject({ complete: true, undone: [{ step: 'a' }, { step: 'm' }, { step: 'z' }] })
    expect(at.effects.slice(3)).toEqual(['undo a a!', 'undo m m!', 'undo z z!'])
  })

  test('[R39] keeps the order when two processes run the saga at the same time', async () => {
    const steps = ['a', 'b', 'c', 'd'].map((name) => at.step(name))
    const [one, two] = [at.saga(), at.saga()]
    for (const step of steps.slice(0, 2)) await one.step(step)
    for (const step of steps.slice(0, 3)) await two.step(step)
    for (const step of steps.slice(2)) await one.step(step)
    await at.saga({ steps }).compensate()
    expect(at.effects.slice(4)).toEqual(['undo d d!', 'undo c c!', 'undo b b!', 'undo a a!'])
  })

  test('[R39] keeps the order when the clock of the store goes backwards', async () => {
    const saga = at.saga()
    for (const name of ['a', 'b', 'c']) {
      await saga.step(at.step(name))
      at.clock.advance(-60_000)
    }
    await saga.compensate()
    expect(at.effects.slice(3)).toEqual(['undo c c!', 'undo b b!', 'undo a a!'])
  })

  test('[R39] that is repeated undoes nothing twice', async () => {
    const saga = at.saga()
    await saga.step(at.step('charge'))
    await Promise.all([saga.compensate(), at.saga({ steps: [at.step('charge')] }).compensate()])
    expect(await saga.compensate()).toMatchObject({ undone: [{ step: 'charge', replayed: true }] })
    expect(at.effects).toEqual(['do charge', 'undo charge charge!'])
  })

  test('[R39] undoes a step with its own code, not with that of another of its name that was refused', async () => {
    const saga = at.saga()
    for (const input of ['first', 'second']) {
      const undo = (): unknown => at.effects.push(`undo the ${input}`)
      await saga.step(at.step('charge', { input, undo })).catch(() => at.effects.push('refused'))
    }
    await saga.compensate()
    expect(at.effects).toEqual(['do charge', 'refused', 'undo the first'])
  })

  test('has nothing to do for a step that was refused', async () => {
    const refused = at.step('charge', {
      do() {
        throw new Rejected('card declined')
      },
    })
    await begun(refused)
    const report = await at.saga({ steps: [refused] }).compensate()
    expect(report).toMatchObject({ complete: true, skipped: [{ step: 'charge', why: 'card declined' }] })
    expect(at.effects).toEqual([])
  })

  test('of a saga of which nothing is known is complete', async () => {
    expect(await at.saga().compensate()).toEqual({ complete: true, undone: [], skipped: [], stuck: [] })
  })

  test('leaves the sagas of other jobs and tenants alone', async () => {
    await at.saga({ jobId: 'one' }).step(at.step('charge'))
    await at.saga({ jobId: 'one', tenant: 'globex' }).step(at.step('charge'))
    await at.saga({ jobId: 'two', steps: [at.step('charge')] }).compensate()
    expect(at.effects).toEqual(['do charge', 'do charge'])
  })
})

describe('[R39] a step whose outcome is unknown', () => {
  test('is undone, with what the check found, where the check finds it', async () => {
    await begun(broken('charge', { check: () => ({ found: 'unclear' }) }))
    const found = broken('charge', { check: () => ({ found: true, value: 'ch_1' }) })
    const report = await at.saga({ steps: [found] }).compensate()
    expect(report).toMatchObject({ complete: true, undone: [{ step: 'charge' }] })
    expect(at.effects).toEqual(['do charge', 'undo charge ch_1'])
  })

  test('is not undone where the check finds nothing, and can never be done any more', async () => {
    await begun(broken('charge', { check: () => ({ found: 'unclear' }) }))
    const step = broken('charge', { check: () => ({ found: false }) })
    const report = await at.saga({ steps: [step] }).compensate()
    expect(report).toMatchObject({
      complete: true,
      skipped: [{ step: 'charge', forward: { state: 'failed' } }],
    })
    await expect(at.saga().step(step)).rejects.toMatchObject({ code: 'SAGA_ROLLED_BACK' })
    expect(at.effects).toEqual(['do charge'])
  })

  test('is listed for a person where the check cannot tell, or there is none', async () => {
    const unclear = broken('charge', { check: () => ({ found: 'unclear' }), input: { amount: 10 } })
    const unchecked = broken('book')
    await begun(unclear, unchecked)
    const ibid = at.open()
    const report = await at.saga({ ibid, steps: [unclear, unchecked] }).compensate()
    const known = { code: 'OUTCOME_UNKNOWN', retriable: false, undo: { state: 'absent' } }
    expect(report).toMatchObject({
      complete: false,
      stuck: [
        { step: 'book', ...known, forward: { state: 'unknown' } },
        { step: 'charge', ...known, input: { amount: 10 } },
      ],
    })
    expect((await ibid.list({ state: 'unknown' })).receipts).toHaveLength(2)
    expect(at.effects).toEqual(['do charge', 'do book'])
  })

  test('is repeated under its key where that was declared safe, and then undone', async () => {
    const keys: string[] = []
    const policy = { recovery: 'retry' } as const
    await begun(
      broken('charge', { policy, do: ({ key }) => Promise.reject(new Error(String(keys.push(key)))) }),
    )
    const again = at.step('charge', { policy, do: ({ key }) => `ch_${keys.push(key)}` })
    expect(await at.saga({ steps: [again] }).compensate()).toMatchObject({ complete: true })
    expect(at.effects).toEqual(['undo charge ch_2'])
    expect(new Set(keys).size).toBe(1)
  })
})

describe('[R39] what could not be undone', () => {
  test('does not keep the steps before it from being undone, unless it is told to', async () => {
    const held = at.step('book', { undo: () => Promise.reject(new Error('no answer')) })
    const steps = [at.step('charge'), held, at.step('mail')]
    await begun(...steps)
    const stopped = await at.saga({ steps }).compensate({ onStuck: 'stop' })
    expect(stopped.stuck.map(({ step, code }) => [step, code])).toEqual([
      ['book', 'OUTCOME_UNKNOWN'],
      ['charge', 'NOT_TRIED'],
    ])
    const report = await at.saga({ steps }).compensate()
    expect(report.stuck).toMatchObject([{ step: 'book', result: 'book!', undo: { state: 'unknown' } }])
    expect(at.effects.slice(3)).toEqual(['undo mail mail!', 'undo charge charge!'])
  })

  test('is undone by the next rollback where it certainly did not happen', async () => {
    let tries = 0
    const step = at.step('charge', {
      undo() {
        if (++tries === 1) throw new NotExecuted('the bank is closed')
      },
    })
    await begun(step)
    const first = await at.saga({ steps: [step] }).compensate()
    expect(first.stuck).toMatchObject([{ step: 'charge', code: 'NOT_EXECUTED', retriable: true }])
    expect(await at.saga({ steps: [step] }).compensate()).toMatchObject({ complete: true })
    expect(tries).toBe(2)
  })

  test('and may be repeated is tried again by the next rollback', async () => {
    let tries = 0
    const undo = (): unknown => (++tries === 1 ? Promise.reject(new Error('reset')) : undefined)
    const step = at.step('charge', { undo, undoPolicy: { recovery: 'retry' } })
    await begun(step)
    const first = await at.saga({ steps: [step] }).compensate()
    expect(first.stuck).toMatchObject([
      { code: 'UNDO_FAILED', retriable: true, why: 'it was not undone: reset' },
    ])
    expect(await at.saga({ steps: [step] }).compensate()).toMatchObject({ complete: true })
  })

  test('is done when a person says so', async () => {
    const step = at.step('charge', { undo: () => Promise.reject(new Error('no answer')) })
    await begun(step)
    const ibid = at.open()
    const saga = at.saga({ ibid, steps: [step] })
    const [held] = (await saga.compensate()).stuck
    if (!held) throw new TypeError('nothing is held')
    await ibid.resolve(held.undo, { as: 'succeeded' }, { by: 'ops', why: 'refunded by hand' })
    expect(await saga.compensate()).toMatchObject({ complete: true, undone: [{ replayed: true }] })
  })

  test('because this process has no code for it is listed, and undone by one that has', async () => {
    await begun(at.step('charge'))
    const report = await at.saga().compensate()
    expect(report).toMatchObject({
      complete: false,
      stuck: [{ code: 'STEP_NOT_REGISTERED', step: 'charge' }],
    })
    expect(await at.saga({ steps: [at.step('charge')] }).compensate()).toMatchObject({ complete: true })
  })
})

describe('[R39] a step that comes late', () => {
  test('does nothing once the rollback has begun, not even one that was done before', async () => {
    await begun(at.step('charge'))
    await at.saga({ steps: [at.step('charge')] }).compensate()
    for (const name of ['charge', 'book']) {
      const late = at.saga().step(at.step(name))
      await expect(late).rejects.toMatchObject({ code: 'SAGA_ROLLED_BACK', retriable: false })
    }
    expect(at.effects).toEqual(['do charge', 'undo charge charge!'])
  })

  test('and is still running keeps the rollback from what came before it', async () => {
    const bookings = new EventEmitter()
    const started = once(bookings, 'started')
    const slow = at.step('book', {
      policy: { wait: 0 },
      async do() {
        const booked = once(bookings, 'booked')
        bookings.emit('started')
        return (await booked)[0] as unknown
      },
    })
    const steps = [at.step('charge'), slow]
    const running = begun(...steps)
    await started
    const early = await at.saga({ steps }).compensate()
    expect(early.stuck).toMatchObject([
      { step: 'book', code: 'RETRY_IN_FLIGHT', retriable: true },
      { step: 'charge', code: 'NOT_TRIED', retriable: true },
    ])
    bookings.emit('booked', 'b_1')
    await running
    expect(await at.saga({ steps }).compensate()).toMatchObject({ complete: true })
    expect(at.effects).toEqual(['do charge', 'undo book b_1', 'undo charge charge!'])
  })

  test('either runs and is undone, or never runs, in whatever order it meets the rollback', async () => {
    const ways = new Set<string>()
    for (let round = 0; round < 200; round++) {
      const { saga, step, effects } = bench()
      const [a, b] = [step('a'), step('b')]
      const running = saga()
      await running.step(a)
      const late = running.step(b).then(
        () => 'done',
        (error: unknown) => (error as { code: string }).code,
      )
      for (let turns = 0; turns < round % 20; turns++) await nextTurn()
      await saga({ steps: [a, b] }).compensate()
      const told = await late
      ways.add(told)
      const ends = await saga({ steps: [a, b] }).compensate()
      expect(ends.complete).toBe(true)
      const done = told === 'done' ? ['do a', 'do b', 'undo b b!', 'undo a a!'] : ['do a', 'undo a a!']
      expect(effects).toEqual(done)
    }
    expect(ways).toEqual(new Set(['done', 'SAGA_ROLLED_BACK']))
  })
})
