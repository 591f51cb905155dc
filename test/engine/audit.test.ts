/** An event for every decision: in the store's log, and to the sinks. */
import { expect, test } from 'vitest'
import { type AuditEvent, NotExecuted, OutcomeUnknown } from '../../src/index.js'
import { AUDIT_EVENTS } from '../../src/core/audit.js'
import { bench, failure, INTENT, leaveBehind, manual, seen, turn, WHERE } from './bench.js'

const names = (events: readonly AuditEvent[]): string[] => events.map(({ event }) => event)

/** A bench whose engines all tell one list. */
function listening() {
  const on = bench()
  const told: AuditEvent[] = []
  const audit = (events: readonly AuditEvent[]): void => void told.push(...events)
  return {
    ...on,
    told,
    audit,
    open: (more = {}) => on.open({ audit, ...more }),
    worker: () => on.worker({ audit }),
  }
}

test('[R50] every decision of a long story is in the log and was told to the sinks', async () => {
  const on = listening()
  const ibid = on.open()
  const retry = { lease: '3s', recovery: 'retry', window: '10s', wait: 0 } as const
  const work = manual()
  const first = seen(ibid.once(INTENT, work.effect, retry))
  await on.time.pass(1_000)
  const busy = seen(ibid.once(INTENT, work.effect, retry))
  await on.time.pass(1)
  expect(busy.now.state).toBe('failed')
  await failure(ibid.once({ ...INTENT, payload: 'other' }, work.effect, retry))
  await work.fail(new NotExecuted('queue full'))
  expect(first.now.state).toBe('failed')
  const zombie = on.worker()
  const late = seen(zombie.ibid.once(INTENT, work.effect, retry))
  await turn()
  zombie.stop()
  await on.time.pass(3_000)
  await ibid.once(INTENT, () => 'done', retry)
  await ibid.once(INTENT, () => 'done', retry)
  await ibid.once(INTENT, () => 'done', retry)
  await work.succeed('late')
  expect(late.now.state).toBe('failed')
  await zombie.ibid.history(INTENT)
  await on.time.pass(10_000)
  await ibid.sweep()
  const history = await ibid.history(INTENT)
  const want = [
    'claimed',
    'renewed',
    'in_flight',
    'conflict',
    'released',
    'claimed',
    'takeover',
    'settled',
    'dedup_hit',
    'stale',
    'expired',
  ]
  expect(names(history).toSorted()).toEqual(want.toSorted())
  expect(history.find(({ event }) => event === 'dedup_hit')).toMatchObject({ count: 2, state: 'succeeded' })
  // What the store decides by itself, it alone writes down.
  expect(names(on.told).toSorted()).toEqual(want.filter((name) => name !== 'expired').toSorted())
})

test('[R50] held, resolved and swept are told as well: no name of the log is without a decision', async () => {
  const on = listening()
  const ibid = on.open()
  await failure(ibid.once(INTENT, () => Promise.reject(new OutcomeUnknown('no'))))
  await ibid.resolve(WHERE, { as: 'released' }, { by: 'ada', why: 'seen' })
  await leaveBehind(on, { lease: '1s' }, { ...INTENT, key: 'swept' })
  await leaveBehind(on, { lease: '1s' }, { ...INTENT, key: 'held' })
  await on.time.pass(1_000)
  await failure(ibid.once({ ...INTENT, key: 'held' }, () => 'no'))
  await ibid.sweep()
  expect(names(on.told)).toEqual(['claimed', 'held', 'resolved', 'claimed', 'claimed', 'held', 'swept'])
  expect(AUDIT_EVENTS).toHaveLength(13)
})

test.each(['claim', 'swap'] as const)(
  '[R50] decisions whose answer was lost (%s) are told all the same',
  async (verb) => {
    const on = listening()
    const ibid = on.open()
    on.tap.failAfter(verb)
    const first = seen(ibid.once(INTENT, () => 1))
    await on.time.pass(100)
    expect(first.now.state).toBe('done')
    expect(names(on.told).filter((name) => name !== 'renewed')).toEqual(['claimed', 'settled'])
  },
)

test('[R50] a claim that is given back after an outage is told', async () => {
  const on = listening()
  const ibid = on.open()
  on.tap.failAfter('claim', 3)
  void ibid.once(INTENT, () => 1).catch(() => undefined)
  await on.time.pass(1_000)
  expect(names(on.told)).toEqual(['released'])
})

test.each([
  ['remembered', {}],
  ['read from the store each time', { cache: false }],
] as const)(
  '[R50] a storm of duplicates, %s, is a few rows with large counts, written once a second',
  async (_, options) => {
    const on = listening()
    const ibid = on.open(options)
    await ibid.once(INTENT, () => 1)
    for (let i = 0; i < 5_000; i++) await ibid.once(INTENT, () => 1)
    expect(on.tap.count('record')).toBe(0)
    await on.time.pass(1_000)
    expect(on.tap.batches('record')).toEqual([1])
    await ibid.once(INTENT, () => 1)
    await on.time.pass(1_000)
    const hits = (await ibid.history(INTENT)).filter(({ event }) => event === 'dedup_hit')
    expect(hits.map(({ count }) => count)).toEqual([5_000, 1])
  },
)

test('[R50] a sink that throws and a log that cannot be reached stop nothing', async () => {
  const on = bench()
  let told = 0
  const audit = [
    (): never => {
      throw new TypeError('sink')
    },
    () => void told++,
  ]
  const ibid = on.open({ audit })
  await ibid.once(INTENT, () => 1)
  on.tap.failBefore('record', 5)
  expect((await ibid.once(INTENT, () => 2)).value).toBe(1)
  await on.time.pass(2_000)
  expect(told).toBe(3)
  await ibid.close()
})

test('[R50] what waits for the log is written when the engine is closed', async () => {
  const on = bench()
  const ibid = on.open()
  await ibid.once(INTENT, () => 1)
  await ibid.once(INTENT, () => 1)
  await ibid.close()
  expect(on.tap.batches('record')).toEqual([1])
})

test('[R50] the audit note of a change is written with it, in the same call of the store', async () => {
  const on = bench()
  await on.open().once(INTENT, () => 1)
  expect(on.tap.count('record')).toBe(0)
  expect(names((await on.store.audit({ ...WHERE, limit: 9 })).events)).toEqual(['claimed', 'settled'])
})

test('[R50] a sink that rejects later, and a log that throws at once, stop nothing and end nothing', async () => {
  const on = bench()
  const store = {
    ...on.store,
    record: (): never => {
      throw new TypeError('log')
    },
  }
  const ibid = on.open({ store, audit: () => Promise.reject(new TypeError('sink')) as never })
  await ibid.once(INTENT, () => 1)
  expect((await ibid.once(INTENT, () => 2)).value).toBe(1)
  await on.time.pass(2_000)
  await ibid.close()
})

function spoil(events: readonly AuditEvent[]): void {
  for (const event of events) Object.assign(event, { key: 'other' })
  ;(events as AuditEvent[]).length = 0
}

test('[R50] what a sink does to the events it was told is not done to the log', async () => {
  const on = bench()
  const ibid = on.open({ audit: [spoil, spoil] })
  await ibid.once(INTENT, () => 1)
  await ibid.once(INTENT, () => 1)
  await on.time.pass(1_000)
  expect(names(await ibid.history(INTENT))).toEqual(['claimed', 'settled', 'dedup_hit'])
})

test('[R50] refusals are counted together only where they were about the same claim in the same state', async () => {
  const on = bench()
  const ibid = on.open()
  const work = manual()
  const other = { ...INTENT, payload: 'other' }
  const running = ibid.once(INTENT, work.effect, { window: '100ms' })
  await turn()
  for (let i = 0; i < 2; i++) await failure(ibid.once(other, () => 'no'))
  await work.succeed('one')
  await running
  await failure(ibid.once(other, () => 'no'))
  await on.time.pass(100)
  await ibid.once({ ...INTENT, payload: 'third' }, () => 'two')
  await failure(ibid.once(other, () => 'no'))
  const conflicts = (await ibid.history(INTENT)).filter(({ event }) => event === 'conflict')
  expect(conflicts.map(({ state, count }) => [state, count])).toEqual([
    ['pending', 2],
    ['succeeded', 1],
    ['succeeded', 1],
  ])
  expect(new Set(conflicts.map(({ epoch }) => epoch)).size).toBe(2)
})
