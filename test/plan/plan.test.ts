/** The formulas of window, capacity, collision and cost, by the worked example, to the digit, and at their edges. */
import { assert, nat, property } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { collisionRisk, planCapacity, planCost, planWindow } from '../../src/plan/index.js'

const rates = { perSecond: 80, windowSeconds: 135, margin: 0.2, duplicateShare: 0.06, overSeconds: 600 }

describe('[R53] the worked example, to the digit', () => {
  test('a window of 135 s', () => {
    expect(planWindow({ callerSeconds: 10, retrySeconds: 90, networkSeconds: 30, clockSeconds: 5 })).toBe(135)
  })

  test('12 960 records, 4.8 duplicates a second, 2 880 in ten minutes', () => {
    expect(planCapacity(rates)).toEqual({ records: 12_960, duplicatesPerSecond: 4.8, duplicates: 2_880 })
  })

  test('a collision risk of 2.47e-31', () => {
    expect(collisionRisk({ keys: 12_960, bits: 128 }).toExponential(2)).toBe('2.47e-31')
  })
})

describe('capacity', () => {
  test('counts whole records, and does not invent one out of binary fractions', () => {
    expect(planCapacity({ perSecond: 0.1, windowSeconds: 30, margin: 0 }).records).toBe(3)
    expect(planCapacity({ perSecond: 0.1, windowSeconds: 31, margin: 0 }).records).toBe(4)
    assert(
      property(nat(100_000), nat(100_000), (tenths, windowSeconds) => {
        const { records } = planCapacity({ perSecond: tenths / 10, windowSeconds, margin: 0 })
        expect(records).toBe(Math.ceil((tenths * windowSeconds) / 10))
      }),
    )
  })

  test('says nothing about duplicates where none were given', () => {
    expect(planCapacity({ perSecond: 5, windowSeconds: 10, margin: 0 })).toEqual({
      records: 50,
      duplicatesPerSecond: 0,
      duplicates: 0,
    })
  })
})

describe('collision', () => {
  test('none between fewer than two keys, never more than certain', () => {
    expect(collisionRisk({ keys: 0, bits: 128 })).toBe(0)
    expect(collisionRisk({ keys: 1, bits: 128 })).toBe(0)
    expect(collisionRisk({ keys: 1e6, bits: 8 })).toBe(1)
  })
})

describe('cost', () => {
  test('two writes per action, bytes of receipts and events, both prices', () => {
    expect(
      planCost({
        records: 12_960,
        bytesPerRecord: 500,
        perSecond: 80,
        events: 1_000,
        bytesPerEvent: 100,
        pricePerGbMonth: 2,
        pricePerMillionWrites: 1.25,
      }),
    ).toEqual({
      bytes: 6_580_000,
      eventBytes: 100_000,
      writesPerSecond: 160,
      storagePerMonth: 0.01316,
      writesPerMonth: 518.4,
      perMonth: 518.41316,
    })
  })
})

describe('what is wrong is named', () => {
  const cases: readonly [string, () => unknown][] = [
    [
      'retrySeconds',
      () => planWindow({ callerSeconds: 1, retrySeconds: -1, networkSeconds: 0, clockSeconds: 0 }),
    ],
    ['clockSeconds', () => planWindow({ callerSeconds: 1, retrySeconds: 1, networkSeconds: 0 } as never)],
    ['perSecond', () => planCapacity({ ...rates, perSecond: Number.NaN })],
    ['margin', () => planCapacity({ ...rates, margin: 1.2 })],
    ['duplicateShare', () => planCapacity({ ...rates, duplicateShare: '6%' as never })],
    ['bits', () => collisionRisk({ keys: 2, bits: 0 })],
    ['bytesPerRecord', () => planCost({ records: 1, bytesPerRecord: Infinity, perSecond: 1 })],
    ['planWindow', () => planWindow(undefined as never)],
  ]
  test.each(cases)('%s', (field, call) => {
    expect(call).toThrow(
      expect.objectContaining({ code: 'INVALID_INTENT', message: expect.stringContaining(field) }),
    )
  })
})
