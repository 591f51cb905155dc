import { expect, it } from 'vitest'
import { mustSay } from '../../src/core/on-record.js'
import { refusal } from '../key/refusal.js'

it.each(['x', 'x'.repeat(1_000)])('is said in 1 to 1000 characters', (said) => {
  expect(() => mustSay('by', said)).not.toThrow()
})

it.each([undefined, null, '', ' \n', 5, 'x'.repeat(1_001)])(
  '%j is not said, by nobody and for no reason',
  (said) => {
    expect(refusal(() => mustSay('by', said))).toMatchObject({
      code: 'INVALID_INTENT',
      action: 'say who, as in { by, why }: it goes on record',
    })
    expect(refusal(() => mustSay('why', said))).toMatchObject({
      message: expect.stringContaining('why is not a text of 1 to 1000 characters'),
      action: 'say why, as in { by, why }: it goes on record',
    })
  },
)
