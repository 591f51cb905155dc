import { describe, expect, it } from 'vitest'
import {
  claimDraft,
  handOver,
  lapsedDraft,
  ownerDraft,
  type OwnerEvent,
  resolveDraft,
} from '../../src/core/drafts.js'
import { readPolicy } from '../../src/core/policy.js'
import { type Draft, stamp, type State } from '../../src/core/receipt.js'
import { type Condition, findRow, type Row } from '../../src/core/transitions.js'
import { receipt } from './receipt-sample.js'

const terms = readPolicy({ lease: 200, window: '1m', recovery: 'retry', maxAttempts: 4 })
const first = claimDraft({ tenant: 'acme', scope: 'refund', key: 'k1' }, '1:abc', terms, 'new-token')
const claimRow = (from: Condition): Row => findRow(from, 'claim', 'retry') as Row

it('a first claim reserves the key under a lease, with everything that a recovery needs [R3]', () => {
  expect(first).toMatchObject({
    state: 'pending',
    token: 'new-token',
    attempt: 1,
    maxAttempts: 4,
    recovery: 'retry',
    forMs: 200,
    windowMs: 60_000,
    epoch: null,
    createdAt: null,
    outcome: null,
    audit: { event: 'claimed' },
  })
})

describe('a claim of a receipt that is there', () => {
  it('starts anew where the old one is forgotten [R11]', () => {
    expect(handOver(receipt({ state: 'succeeded', attempt: 3 }), claimRow('expired'), first)).toEqual(first)
  })

  it('counts an attempt where one lapsed, and says that it took over [R7] [R14]', () => {
    expect(handOver(receipt({ attempt: 2 }), claimRow('lapsed'), first)).toEqual({
      ...first,
      attempt: 3,
      createdAt: 1_000,
      audit: { event: 'takeover' },
    })
  })

  it('counts none where the last one did nothing [R9]', () => {
    expect(handOver(receipt({ state: 'released', attempt: 2 }), claimRow('released'), first)).toEqual({
      ...first,
      attempt: 2,
      createdAt: 1_000,
    })
  })

  it('always gets a new token and a higher epoch [R8]', () => {
    for (const from of ['expired', 'released', 'lapsed'] as const) {
      const found = receipt({ epoch: 9e12 })
      const next = stamp(handOver(found, claimRow(from), first), 1_200, found.epoch)
      expect(next.epoch).toBeGreaterThan(found.epoch)
      expect(next.token).toBe('new-token')
    }
  })
})

describe('the owner', () => {
  it.each<[OwnerEvent, State, number | null, string]>([
    ['renew', 'pending', 100, 'renewed'],
    ['lapse', 'pending', 0, 'released'],
    ['succeed', 'succeeded', 10_000, 'settled'],
    ['fail', 'failed', 10_000, 'settled'],
    ['release', 'released', 10_000, 'released'],
    ['doubt', 'unknown', null, 'held'],
  ])('may %s: %s for %s ms, recorded as %s [R8] [R9] [R50]', (event, state, forMs, name) => {
    const draft = ownerDraft(receipt(), event, '{"value":1}', 'why')
    expect(draft).toMatchObject({ state, forMs, outcome: '{"value":1}', audit: { event: name, why: 'why' } })
    expectSameAttempt(draft)
  })

  it('is recorded without a reason where it gives none [R50]', () => {
    expect(ownerDraft(receipt(), 'succeed', null).audit).toStrictEqual({ event: 'settled' })
  })
})

it('a lapsed receipt is held for ever, or released for a window [R7] [R11] [R14]', () => {
  const held = lapsedDraft(receipt(), findRow('lapsed', 'sweep', 'hold') as Row, { event: 'swept' })
  expect(held).toMatchObject({ state: 'unknown', forMs: null, outcome: null, audit: { event: 'swept' } })
  const released = lapsedDraft(receipt(), findRow('lapsed', 'sweep', 'atomic') as Row, { event: 'swept' })
  expect(released).toMatchObject({ state: 'released', forMs: 10_000, outcome: null })
  expectSameAttempt(held)
  expectSameAttempt(released)
})

it('a held receipt is resolved with who and why on record [R14]', () => {
  const draft = resolveDraft(
    receipt({ state: 'unknown' }),
    'succeeded',
    '{"value":1}',
    'ann',
    'saw it downstream',
  )
  expect(draft).toMatchObject({ state: 'succeeded', forMs: 10_000, outcome: '{"value":1}' })
  expect(draft.audit).toEqual({ event: 'resolved', by: 'ann', why: 'saw it downstream' })
  expectSameAttempt(draft)
})

function expectSameAttempt(draft: Draft): void {
  const { token, epoch, attempt, createdAt, fingerprint } = receipt()
  expect(draft).toMatchObject({ token, epoch, attempt, createdAt, fingerprint })
}
