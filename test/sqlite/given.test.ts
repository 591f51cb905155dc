/** A claim of this connection is settled without a look for it, and under its own token and address only. */
import { describe, expect, it } from 'vitest'
import { Given } from '../../src/stores/sqlite/given.js'
import { draft } from '../../src/testing/store/drafts.js'

describe('the claims of a connection', () => {
  it('are known by their tokens, once', () => {
    const given = new Given()
    const [one, two] = [draft(), draft()]
    given.add(1, one)
    given.add(2, two)
    expect(given.take({ ...two, state: 'succeeded', epoch: 5, outcome: '{}' })).toBe(2)
    expect(given.take(two)).toBeUndefined()
    expect(given.take(one)).toBe(1)
  })

  it.each(['tenant', 'scope', 'key', 'fingerprint', 'token'] as const)(
    '[R1] are not taken for those of another %s',
    (field) => {
      const given = new Given()
      const one = draft()
      given.add(1, one)
      expect(given.take({ ...one, [field]: 'another' })).toBeUndefined()
      expect(given.take(one)).toBe(1)
    },
  )

  it('are not all kept, and none after something was undone', () => {
    const given = new Given()
    const claims = Array.from({ length: 3_000 }, () => draft())
    for (const [i, claim] of claims.entries()) given.add(i + 1, claim)
    const known = claims.map((claim) => given.take(claim))
    expect(known.slice(0, 900).every((id) => id === undefined)).toBe(true)
    expect(known.slice(-2_000)).toEqual(Array.from({ length: 2_000 }, (_, i) => 1_001 + i))
    for (const [i, claim] of claims.entries()) given.add(i + 1, claim)
    given.clear()
    expect(claims.filter((claim) => given.take(claim) !== undefined)).toEqual([])
  })
})
