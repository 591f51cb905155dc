/**
 * The crash matrix over SQLite: a process killed at every point between claim and settle, under every policy. And
 * the proof that it can fail: over a store that forgets with its process, and for each promise by itself.
 */
import { describe, expect, it } from 'vitest'
import { type CrashCell, crashMatrix, violationOf } from '../../src/testing/index.js'

const SQLITE = new URL('../fixtures/sqlite-store.mjs', import.meta.url)
const MEMORY = new URL('../fixtures/memory-store.mjs', import.meta.url)

describe('[R7][R61] a crash at every point between claim and settle', () => {
  for (const policy of ['hold', 'check', 'retry', 'atomic'] as const) {
    it(`keeps the promise of ${policy}`, async () => {
      const cells = await crashMatrix({ module: SQLITE, policies: [policy] })
      const violated = cells.filter(({ violation }) => violation !== undefined)
      expect(violated, 'cells that broke a promise').toEqual([])
      const missed = cells.filter(({ killed }) => killed.includes(false)).map(({ points }) => points)
      expect(missed, 'points that were never reached').toEqual([])
      expect(cells.length).toBeGreaterThanOrEqual(8)
    })
  }

  it('keeps it where many are stopped in one process, each at its point, and killed together', async () => {
    const policies = ['hold', 'check', 'retry', 'atomic'] as const
    const points = ['after claim', 'after effect', ['after effect', 'before settle']] as const
    const cells = await crashMatrix({ module: SQLITE, policies, points, rounds: 2, together: 9 })
    expect(cells.map(({ violation }) => violation).filter(Boolean)).toEqual([])
    expect(cells).toHaveLength(24)
    expect(cells.filter(({ killed }) => killed.includes(false)).map(({ policy }) => policy)).toEqual([])
  })

  it('says under hold what is known, and no more', async () => {
    const points = ['before claim', 'after claim', 'after effect', 'after settle'] as const
    const cells = await crashMatrix({ module: SQLITE, policies: ['hold'], points })
    expect(cells.map(({ points: [point], effects, state }) => [point, effects, state])).toEqual([
      ['before claim', 1, 'succeeded'],
      ['after claim', 0, 'unknown'],
      ['after effect', 1, 'unknown'],
      ['after settle', 1, 'succeeded'],
    ])
  })

  it('lets a rescuer that was slower than its lease ask again, as it is told', async () => {
    const slow = new URL('../fixtures/slow-store.mjs', import.meta.url)
    const [cell] = await crashMatrix({ module: slow, policies: ['retry'], points: ['after effect'] })
    expect(cell).toMatchObject({ state: 'succeeded', attempt: 3, effects: 3, violation: undefined })
    expect(cell?.answers).toEqual(Array(3).fill('effect 3'))
  })

  it('lets a rescuer ask again whose attempt was held by another while it was slower than its lease', async () => {
    const slow = new URL('../fixtures/slow-store.mjs', import.meta.url)
    const [cell] = await crashMatrix({ module: slow, policies: ['hold'], points: ['before claim'] })
    expect(cell).toMatchObject({ state: 'unknown', attempt: 1, effects: 1, violation: undefined })
    expect(cell?.answers).toEqual(Array(3).fill('OUTCOME_UNKNOWN'))
  })

  it('says under retry how often it was tried', async () => {
    const points = ['after claim', 'after effect', ['after effect', 'after takeover']] as const
    const cells = await crashMatrix({ module: SQLITE, policies: ['retry'], points })
    expect(cells.map(({ effects, attempt, state }) => [effects, attempt, state])).toEqual([
      [1, 2, 'succeeded'],
      [2, 2, 'succeeded'],
      [2, 3, 'succeeded'],
    ])
  })
})

describe('the crash matrix', () => {
  it('catches a store that forgets with its process', async () => {
    const points = ['after effect', 'after settle'] as const
    const cells = await crashMatrix({ module: MEMORY, policies: ['hold'], points })
    const caught = [expect.stringContaining('under hold'), expect.stringContaining('under hold')]
    expect(cells.map(({ violation }) => violation)).toEqual(caught)
    const together = await crashMatrix({ module: MEMORY, policies: ['hold'], points, together: 2 })
    expect(together.map(({ violation }) => violation)).toEqual(caught)
  })

  const sound: CrashCell = {
    policy: 'check',
    points: ['after effect'],
    killed: [true],
    state: 'succeeded',
    attempt: 2,
    effects: 1,
    answers: ['effect 1', 'effect 1'],
  }
  const broken: Readonly<Record<string, Partial<CrashCell>>> = {
    'a key that is left pending': { state: 'pending' },
    'a key that is left released': { state: 'released' },
    'a key that is gone': { state: 'absent' },
    'a success without an effect': { effects: 0 },
    'two effects under check': { effects: 2 },
    'two effects under hold': { policy: 'hold', effects: 2, state: 'unknown' },
    'two effects in one transaction': { policy: 'atomic', effects: 2 },
    'a transaction that is held': { policy: 'atomic', state: 'unknown' },
    'more effects than attempts': { policy: 'retry', effects: 3 },
    'a retry that gave up': { policy: 'retry', state: 'unknown' },
    'callers who were told different things': { answers: ['effect 1', 'effect 2'] },
    'callers who were all told of what nobody did': { answers: ['effect 2', 'effect 2'] },
    'callers who all got an error, where it is done': { answers: ['LEASE_LOST', 'LEASE_LOST'] },
    'callers of a held key who got a value': { policy: 'hold', state: 'unknown' },
  }
  for (const [name, fields] of Object.entries(broken)) {
    it(`sees ${name}`, () => {
      expect(violationOf(sound)).toBeUndefined()
      expect(violationOf({ ...sound, ...fields })).toBeTypeOf('string')
    })
  }
})
