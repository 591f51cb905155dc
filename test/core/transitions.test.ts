import { describe, expect, it } from 'vitest'
import { RECOVERIES, type Receipt, type Recovery, STATES, type State } from '../../src/core/receipt.js'
import {
  type Condition,
  conditionOf,
  decide,
  type Event,
  findRow,
  stricter,
  TABLE,
} from '../../src/core/transitions.js'
import { receipt } from './receipt-sample.js'

const CONDITIONS: readonly Condition[] = [...STATES, 'lapsed', 'exhausted', 'expired']
const EVENTS: readonly Event[] = [
  'claim',
  'sweep',
  'renew',
  'lapse',
  'succeed',
  'fail',
  'release',
  'doubt',
  'resolve',
]

/** The table, written a second time by hand, as sentences: condition, event, recovery, where it leads. */
const ALLOWED = `
  expired   claim    *             pending   new
  released  claim    *             pending   new
  lapsed    claim    retry,check   pending   new,counts
  lapsed    claim    atomic        pending   new
  lapsed    claim    hold          unknown
  lapsed    sweep    hold          unknown
  lapsed    sweep    atomic        released
  exhausted claim    *             unknown
  exhausted sweep    *             unknown
  pending   renew    *             pending
  pending   lapse    *             pending
  pending   succeed  *             succeeded
  pending   fail     *             failed
  pending   release  *             released
  pending   doubt    *             unknown
  unknown   resolve  *             succeeded
  unknown   resolve  *             failed
  unknown   resolve  *             released
`
  .trim()
  .split('\n')
  .map((line) => line.trim().split(/\s+/) as [Condition, Event, string, State, string?])

const allowed = (from: Condition, event: Event, recovery: Recovery): (readonly [State, string])[] =>
  ALLOWED.filter(
    ([f, e, when]) => f === from && e === event && (when === '*' || when.split(',').includes(recovery)),
  ).map(([, , , to, marks]) => [to, marks ?? ''])

const every = CONDITIONS.flatMap((from) =>
  EVENTS.flatMap((event) => RECOVERIES.map((recovery) => [from, event, recovery] as const)),
)

describe('the table', () => {
  it.each(every)(
    '%s, %s, recovery %s: leads where it is written, or nowhere [R8] [R14]',
    (from, event, recovery) => {
      const expected = allowed(from, event, recovery)
      for (const to of STATES) {
        const row = findRow(from, event, recovery, to)
        const found = row && [
          row.to,
          [row.newAttempt && 'new', row.counts && 'counts'].filter(Boolean).join(),
        ]
        expect(found).toEqual(expected.find(([one]) => one === to))
      }
      expect(findRow(from, event, recovery)?.to).toBe(expected[0]?.[0])
    },
  )

  it('has no row twice, and none that this test does not know [R14]', () => {
    expect(TABLE).toHaveLength(ALLOWED.length)
    const seen = TABLE.flatMap((row) =>
      (row.when ?? RECOVERIES).map((recovery) => `${row.from} ${row.event} ${recovery} ${row.to}`),
    )
    expect(new Set(seen).size).toBe(seen.length)
  })

  it('never changes a settled receipt [R8]', () => {
    expect(TABLE.filter(({ from }) => from === 'succeeded' || from === 'failed')).toEqual([])
  })

  it('leaves no state without a way out, whatever the recovery [R14]', () => {
    for (const recovery of RECOVERIES) {
      for (const from of CONDITIONS.filter((one) => one !== 'succeeded' && one !== 'failed')) {
        expect(
          EVENTS.some((event) => findRow(from, event, recovery)),
          `${from}, ${recovery}`,
        ).toBe(true)
      }
    }
  })

  it('hands a receipt over only with a new attempt, and only by a claim [R2] [R8]', () => {
    for (const row of TABLE)
      expect(row.newAttempt === true).toBe(row.event === 'claim' && row.to === 'pending')
  })
})

describe('the condition of a receipt', () => {
  it.each<[State, Recovery, number, number, Condition]>([
    ['pending', 'retry', 1, 1_099, 'pending'],
    ['pending', 'retry', 1, 1_100, 'lapsed'],
    ['pending', 'retry', 2, 1_100, 'lapsed'],
    ['pending', 'retry', 3, 1_100, 'exhausted'],
    ['pending', 'check', 3, 1_100, 'exhausted'],
    ['pending', 'retry', 1, 11_099, 'lapsed'],
    ['pending', 'retry', 1, 11_100, 'exhausted'],
    ['pending', 'hold', 3, 99_999, 'lapsed'],
    ['pending', 'atomic', 3, 99_999, 'lapsed'],
    ['succeeded', 'retry', 1, 1_099, 'succeeded'],
    ['succeeded', 'retry', 1, 1_100, 'expired'],
    ['failed', 'retry', 1, 1_100, 'expired'],
    ['released', 'retry', 1, 1_099, 'released'],
    ['released', 'retry', 1, 1_100, 'expired'],
    ['unknown', 'retry', 1, 99_999, 'unknown'],
  ])(
    '%s, %s, attempt %i of 3, at %i ms of a lease to 1100: %s [R3] [R11]',
    (state, recovery, attempt, now, condition) => {
      expect(conditionOf(receipt({ state, recovery, attempt }), now)).toBe(condition)
    },
  )

  it('that has no end stays what it is [R11]', () => {
    for (const state of STATES)
      expect(conditionOf(receipt({ state, until: null }), Number.MAX_VALUE)).toBe(state)
  })
})

/** A receipt of that condition, and when. */
function found(condition: Condition, recovery: Recovery): [Receipt, number] {
  if (condition === 'expired') return [receipt({ state: 'succeeded', recovery }), 1_100]
  if (condition === 'lapsed') return [receipt({ recovery }), 1_100]
  if (condition === 'exhausted') return [receipt({ recovery, attempt: 3 }), 1_100]
  return [receipt({ state: condition, recovery }), 1_050]
}

function told(condition: Condition, recovery: Recovery, declared: Recovery): object {
  switch (condition) {
    case 'succeeded':
    case 'failed':
      return { kind: 'replay' }
    case 'unknown':
      return { kind: 'unknown' }
    case 'pending':
      return { kind: 'in_flight', retryAfterMs: 50 }
    default: {
      const rule = condition === 'expired' ? declared : stricter(recovery, declared)
      const [to] = allowed(condition, 'claim', rule)[0] as readonly [State, string]
      return { kind: 'move', row: { from: condition, event: 'claim', to } }
    }
  }
}

describe('what a claim is told', () => {
  const real = CONDITIONS.flatMap((condition) =>
    RECOVERIES.flatMap((recovery) => RECOVERIES.map((declared) => [condition, recovery, declared] as const)),
  ).filter(
    ([condition, recovery]) => condition !== 'exhausted' || recovery === 'retry' || recovery === 'check',
  )

  it.each(real)(
    '%s, claimed as %s, other payload, declared %s: conflict, or new once it is forgotten [R4]',
    (...given) => {
      const [condition, recovery, declared] = given
      const [stored, now] = found(condition, recovery)
      expect(decide(stored, '1:other', declared, now).kind).toBe(
        condition === 'expired' ? 'move' : 'conflict',
      )
    },
  )

  it.each(real)(
    '%s, claimed as %s, same payload, declared %s: what the table says [R4] [R5] [R7]',
    (...given) => {
      const [condition, recovery, declared] = given
      const [stored, now] = found(condition, recovery)
      expect(decide(stored, stored.fingerprint, declared, now)).toMatchObject(
        told(condition, recovery, declared),
      )
    },
  )

  it('the deadline of another is in whole milliseconds, never less than what is left [R6]', () => {
    expect(decide(receipt(), '1:abc', 'retry', 1_099.2)).toEqual({ kind: 'in_flight', retryAfterMs: 1 })
  })
})

describe('the stricter of two recoveries', () => {
  it.each<[Recovery, Recovery, Recovery]>([
    ['hold', 'hold', 'hold'],
    ['hold', 'retry', 'hold'],
    ['hold', 'check', 'hold'],
    ['hold', 'atomic', 'hold'],
    ['check', 'check', 'check'],
    ['check', 'retry', 'hold'],
    ['check', 'hold', 'hold'],
    ['check', 'atomic', 'hold'],
    ['retry', 'retry', 'retry'],
    ['retry', 'check', 'check'],
    ['retry', 'hold', 'hold'],
    ['retry', 'atomic', 'retry'],
    ['atomic', 'hold', 'atomic'],
    ['atomic', 'retry', 'atomic'],
    ['atomic', 'check', 'atomic'],
    ['atomic', 'atomic', 'atomic'],
  ])('%s, then %s: %s [R7]', (stored, declared, expected) => {
    expect(stricter(stored, declared)).toBe(expected)
  })
})
