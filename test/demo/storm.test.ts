/** The storm follows from its seed, and is never a calm one. */
import { describe, expect, test } from 'vitest'
import { armsOf } from '../../src/cli/demo/layers.js'
import { makeStorm, TROUBLES } from '../../src/cli/demo/storm.js'

const SEEDS = Array.from({ length: 100 }, (_, seed) => seed)

describe('a storm', () => {
  test('is the same for the same seed, and another for another', () => {
    expect(makeStorm(7, 30)).toEqual(makeStorm(7, 30))
    const bySeed = SEEDS.map((seed) => JSON.stringify(makeStorm(seed, 30).charges))
    expect(new Set(bySeed).size).toBe(SEEDS.length)
  })

  test('has every trouble, and something that duplicates for more than a third of the refunds', () => {
    for (const seed of SEEDS) {
      const { charges, deploys } = makeStorm(seed, 30)
      for (const trouble of TROUBLES)
        expect(charges.some(({ troubles }) => troubles.includes(trouble))).toBe(true)
      const duplicating = charges.filter(
        ({ copiesMs, lostAcks, ledgerSilences, replans, clicks, kill }) =>
          copiesMs.length + lostAcks + ledgerSilences + replans + clicks.length > 0 ||
          kill === 'after refund' ||
          kill === 'after mail',
      )
      expect(duplicating.length, `seed ${seed}`).toBeGreaterThan(10)
      expect(deploys.length).toBeGreaterThan(0)
    }
  })

  test('has one refund that nobody can look up, and whose only trouble is that it times out', () => {
    for (const seed of SEEDS) {
      const mute = makeStorm(seed, 30).charges.filter(({ hasLookup }) => !hasLookup)
      expect(mute).toMatchObject([{ ledgerSilences: 1, troubles: [], kill: undefined, replans: 0 }])
    }
  })
})

test('with one kind of trouble there is nothing else', () => {
  for (const trouble of TROUBLES) {
    const { charges, deploys } = makeStorm(1, 30, [trouble])
    const hit = charges.filter(({ troubles }) => troubles.length > 0)
    expect(hit.length, trouble).toBeGreaterThan(3)
    expect(new Set(hit.flatMap(({ troubles }) => troubles))).toEqual(new Set([trouble]))
    expect([deploys, charges.filter(({ hasLookup }) => !hasLookup)]).toEqual([[], []])
  }
})

test('a column for each set of layers: three, and one for each that was asked about', () => {
  expect(armsOf().map(({ name }) => name)).toEqual(['no guards', 'ingress only', 'all layers'])
  expect(armsOf({ without: ['step', 'step'], only: ['run', 'ingress'] }).slice(3)).toEqual([
    { name: 'without step', layers: ['ingress', 'queue', 'run', 'tool'] },
    { name: 'run only', layers: ['run'] },
  ])
  const guarded = armsOf({ only: ['ingress'], guarded: true })
  expect(guarded.map(({ name }) => name)).toEqual(['all layers', 'ingress only'])
})
