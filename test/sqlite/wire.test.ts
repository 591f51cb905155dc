/** What arrives at the worker thread is what was sent, however much entries that follow each other have in common. */
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Draft } from '../../src/core/receipt.js'
import type { Swap } from '../../src/store.js'
import { pack, unpack } from '../../src/stores/sqlite/wire.js'

/** Few values of each. */
const draft: fc.Arbitrary<Draft> = fc.record(
  {
    tenant: fc.constantFrom('a', 'a', 'b'),
    scope: fc.constantFrom('s', 's', 't'),
    key: fc.constantFrom('k', '', 'l'),
    fingerprint: fc.constantFrom('f', 'g'),
    state: fc.constantFrom('pending', 'pending', 'succeeded', 'unknown'),
    token: fc.constantFrom('x', 'y'),
    attempt: fc.constantFrom(1, 1, 2),
    maxAttempts: fc.constantFrom(5, 5, 1),
    recovery: fc.constantFrom('hold', 'hold', 'check'),
    leaseMs: fc.constantFrom(30, 30, 60),
    windowMs: fc.constantFrom(9, 9, 8),
    outcome: fc.constantFrom(null, null, '{"value":1}', ''),
    epoch: fc.constantFrom(null, null, 7, 1.7e15),
    createdAt: fc.constantFrom(null, null, 7, 1.7e12),
    forMs: fc.constantFrom(null, 30, 30),
    audit: fc.constantFrom(
      { event: 'claimed' },
      { event: 'claimed' },
      { event: 'settled' },
      { event: 'settled', by: 'ada' },
      { event: 'settled', by: 'ada', why: 'seen' },
    ),
  },
  { noNullPrototype: true },
)

const FIELDS = Object.keys(fc.sample(draft, 1)[0] as Draft)

/** One after the other, each with texts of its own, and unlike the one before in one field at most. */
const drafts: fc.Arbitrary<Draft[]> = fc
  .tuple(draft, fc.array(fc.tuple(draft, fc.string(), fc.option(fc.nat(15), { freq: 3 })), { maxLength: 12 }))
  .map(([first, others]) => {
    const batch = [first]
    for (const [other, text, which] of others) {
      const field = which === null ? 'key' : (FIELDS[which] as keyof Draft)
      const texts = { key: text, token: `${text}!`, fingerprint: text }
      batch.push({ ...(batch.at(-1) as Draft), ...texts, [field]: other[field] })
    }
    return batch
  })

/** Mostly the owner's own, under the token that is there. */
const swaps: fc.Arbitrary<Swap[]> = drafts.chain((batch) => {
  const expected = fc.record(
    {
      token: fc.constantFrom(undefined, undefined, undefined, 'x', 'z'),
      state: fc.constantFrom('pending', 'pending', 'pending', 'unknown'),
      until: fc.constantFrom(undefined, undefined, undefined, null, 5),
    } as const,
    { noNullPrototype: true },
  )
  return fc.array(expected, { minLength: batch.length, maxLength: batch.length }).map((all) =>
    batch.map((next, i) => {
      const { token = next.token, state = 'pending', until } = all[i] ?? {}
      return { expect: { token, state, ...(until === undefined ? {} : { until }) }, next }
    }),
  )
})

function sent(verb: 'claim' | 'swap', batch: unknown): unknown {
  return unpack(verb, structuredClone(pack(verb, batch)))
}

const swapOf = (next: Draft): Swap => ({ expect: { token: next.token, state: 'pending' }, next })

describe('a batch on its way to the worker', () => {
  it('arrives as it was sent: claims', () => {
    fc.assert(
      fc.property(drafts, (batch) => {
        expect(sent('claim', batch)).toStrictEqual(batch)
      }),
      { numRuns: 1_000 },
    )
  })

  it('arrives as it was sent: swaps', () => {
    fc.assert(
      fc.property(swaps, (batch) => {
        expect(sent('swap', batch)).toStrictEqual(batch)
      }),
      { numRuns: 1_000 },
    )
  })

  it('copies nothing but its texts of an entry that is like the one before', () => {
    const [first] = fc.sample(draft, { numRuns: 1, seed: 1 }) as [Draft]
    const second = { ...first, key: 'k2', fingerprint: 'f2', token: 't2' }
    expect(pack('claim', [first, second])).toEqual([first, 'k2', 'f2', 't2'])
    const settled = [swapOf(first), swapOf({ ...second, outcome: '{}' })]
    expect(pack('swap', settled)).toEqual([settled[0], 'k2', 'f2', 't2', '{}'])
  })
})
