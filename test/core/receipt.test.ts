import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { AUDIT_EVENTS } from '../../src/core/audit.js'
import { claimDraft } from '../../src/core/drafts.js'
import { readPolicy } from '../../src/core/policy.js'
import { addressId, nextEpoch, stamp, view } from '../../src/core/receipt.js'
import { receipt } from './receipt-sample.js'

const draft = claimDraft({ tenant: 'acme', scope: 'refund', key: 'k1' }, '1:abc', readPolicy(), 'secret')

it('the clock of the store stamps a draft [R3]', () => {
  expect(stamp(draft, 1_000.5, 0)).toEqual({
    ...receipt({ token: 'secret', recovery: 'hold', maxAttempts: 5, leaseMs: 30_000, windowMs: 86_400_000 }),
    epoch: 1_000_500,
    createdAt: 1_000.5,
    at: 1_000.5,
    until: 31_000.5,
  })
  const kept = stamp({ ...draft, epoch: 7, createdAt: 3, forMs: null }, 1_000, 9)
  expect(kept).toMatchObject({ epoch: 7, createdAt: 3, at: 1_000, until: null })
})

it('an epoch never goes backwards, however the clock jumps [R8]', () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: 0, max: 4e12, noNaN: true }), { minLength: 1 }), (clock) => {
      let last = 0
      for (const now of clock) {
        const { epoch } = stamp(draft, now, last)
        expect(epoch).toBeGreaterThan(last)
        expect(Number.isSafeInteger(epoch)).toBe(true)
        last = epoch
      }
    }),
  )
  expect(nextEpoch(5, 9_000_000)).toBe(9_000_001)
})

it('what the world sees of a receipt has no token and no raw outcome [R8]', () => {
  expect(view(receipt({ outcome: '{"value":1}' }))).not.toHaveProperty('token')
  expect(view(receipt({ outcome: '{"value":1}' }))).not.toHaveProperty('outcome')
  expect(view(receipt())).toHaveProperty('epoch', 1_000_000)
})

it('no two addresses share an id [R1]', () => {
  const part = fc.oneof(fc.string(), fc.constantFrom('a', 'ab', '1', '1:', ':', '1:1:a'))
  const address = fc.record({ tenant: part, scope: part, key: part })
  fc.assert(
    fc.property(address, address, (a, b) => {
      expect(addressId(a) === addressId(b)).toBe(
        a.tenant === b.tenant && a.scope === b.scope && a.key === b.key,
      )
    }),
    { numRuns: 5_000 },
  )
  expect(addressId({ tenant: 'ab', scope: 'c', key: 'd' })).not.toBe(
    addressId({ tenant: 'a', scope: 'bc', key: 'd' }),
  )
})

it('every decision has a name in the audit log [R50]', () => {
  expect(new Set(AUDIT_EVENTS).size).toBe(13)
})
