/** The checker of histories, by itself: what it must accept, and what it must not. */
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Action, describeStuck, type Held, linearize, type Operation } from '../../src/testing/index.js'

const held = (token: string, state = 'pending', mark: string | null = null): Held => ({ token, state, mark })

function operation(calledAt: number, returnedAt: number, action: Action): Operation {
  return { key: 'k', process: 'p', calledAt, returnedAt, action }
}

const claim = (token: string, found?: Held): Action => ({
  verb: 'claim',
  next: held(token),
  answer: found ? { won: false, found } : { won: true },
})
const swap = (from: Held, to: Held, done: boolean): Action => ({
  verb: 'swap',
  expect: { token: from.token, state: from.state },
  next: to,
  answer: { done },
})
const get = (found?: Held): Action => ({ verb: 'get', answer: { found } })

describe('[R2, R60] a history has an order', () => {
  test.each<[string, Operation[]]>([
    ['nothing at all', []],
    ['one after the other', [operation(0, 1, claim('a')), operation(2, 3, get(held('a')))]],
    [
      'two claims at once, one of them wins',
      [operation(0, 9, claim('a', held('b'))), operation(1, 8, claim('b'))],
    ],
    [
      'a read beside a claim sees it, or does not',
      [operation(0, 9, claim('a')), operation(1, 2, get()), operation(3, 4, get(held('a')))],
    ],
    [
      'two swaps at once, the later call is the earlier one',
      [
        operation(0, 1, claim('a')),
        operation(2, 9, swap(held('a'), held('b'), false)),
        operation(3, 8, swap(held('a'), held('c'), true)),
      ],
    ],
    [
      'a claim without an answer that was made, and is seen much later',
      [operation(0, 1, { verb: 'claim', next: held('a') }), operation(5, 6, get(held('a')))],
    ],
    [
      'a claim without an answer that was not made',
      [operation(0, 1, { verb: 'claim', next: held('a') }), operation(5, 6, claim('b'))],
    ],
    [
      'a swap without an answer, done after a read that had returned',
      [
        operation(0, 1, claim('a')),
        operation(2, 3, {
          verb: 'swap',
          expect: held('a'),
          next: held('a', 'succeeded', 'x'),
        }),
        operation(4, 5, get(held('a'))),
        operation(6, 7, get(held('a', 'succeeded', 'x'))),
      ],
    ],
  ])('%s', (_name, history) => {
    expect(linearize(history).ok).toBe(true)
  })
})

describe('[R2, R8, R60] a history has no order', () => {
  test.each<[string, Operation[]]>([
    ['two claims win', [operation(0, 9, claim('a')), operation(1, 8, claim('b'))]],
    ['a read does not see what had returned', [operation(0, 1, claim('a')), operation(2, 3, get())]],
    [
      'a read sees what was not yet asked for',
      [operation(0, 1, get(held('a'))), operation(2, 3, claim('a'))],
    ],
    [
      'two swaps from one state are both made',
      [
        operation(0, 1, claim('a')),
        operation(2, 9, swap(held('a'), held('b'), true)),
        operation(3, 8, swap(held('a'), held('c'), true)),
      ],
    ],
    [
      'a swap says no, and nobody else was there',
      [operation(0, 1, claim('a')), operation(2, 3, swap(held('a'), held('b'), false))],
    ],
    [
      'a reader sees B, and after that A',
      [
        operation(0, 1, claim('a')),
        operation(2, 9, swap(held('a'), held('a', 'succeeded', 'B'), true)),
        operation(3, 4, get(held('a', 'succeeded', 'B'))),
        operation(5, 6, get(held('a'))),
      ],
    ],
    [
      'an acknowledged claim is gone',
      [operation(0, 1, claim('a')), operation(2, 3, claim('b')), operation(4, 5, get(held('b')))],
    ],
    [
      'a claim without an answer cannot explain two things',
      [
        operation(0, 1, { verb: 'claim', next: held('a') }),
        operation(2, 3, get(held('a'))),
        operation(4, 5, claim('b')),
      ],
    ],
  ])('%s', (_name, history) => {
    const judged = linearize(history)
    expect(judged.ok ? 'it has one' : describeStuck(judged)).toMatch(/none of which fits/)
  })
})

/** Operations of one register in an order, each at its instant, stretched to an interval around it. */
const stretched = fc
  .array(
    fc.record({
      verb: fc.constantFrom('claim' as const, 'swap' as const, 'get' as const),
      before: fc.nat({ max: 30 }),
      after: fc.nat({ max: 30 }),
      fits: fc.boolean(),
      answered: fc.integer({ min: 0, max: 9 }).map((dice) => dice > 0),
    }),
    { minLength: 1, maxLength: 60 },
  )
  .map((wanted) => {
    let now: Held | undefined
    return wanted.map(({ verb, before, after, fits, answered }, at): Operation => {
      const instant = at * 10
      let action: Action
      if (verb === 'get') action = get(now)
      else if (verb === 'claim') {
        action = claim(`t${at}`, now)
        now ??= held(`t${at}`)
      } else {
        const expect = fits && now ? now : held('nobody')
        const next = held(`t${at}`)
        action = swap(expect, next, fits && now !== undefined)
        if (fits && now) now = next
      }
      const { answer: _answer, ...silent } = action
      return operation(instant - before, instant + after, answered ? action : silent)
    })
  })

test('[R2] whatever happened in some order is accepted, however the calls overlap', () => {
  fc.assert(fc.property(stretched, (history) => linearize(history).ok))
})

test('[R2] an answer that was changed to an impossible one is never explained', () => {
  fc.assert(
    fc.property(stretched, fc.nat(), (history, pick) => {
      const reads = history.filter(({ action }) => action.verb === 'get' && action.answer)
      const changed = reads[pick % Math.max(1, reads.length)]
      if (!changed) return true
      const lie = { ...changed, action: get(held('never written')) }
      return !linearize(history.map((one) => (one === changed ? lie : one))).ok
    }),
  )
})
