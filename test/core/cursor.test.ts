import { expect, it } from 'vitest'
import { noCursor, readNumber } from '../../src/core/cursor.js'
import { refusal } from '../key/refusal.js'

it.each(['0', '1', '9007199254740991'])('%s is the place that it says', (cursor) => {
  expect(readNumber(cursor)).toBe(Number(cursor))
})

it.each(['-1', '1.5', '9007199254740992', 'next', 'NaN'])(
  '%s is no place, and not the end of the list',
  (cursor) => {
    expect(refusal(() => readNumber(cursor)).message).toBe(noCursor().message)
    expect(noCursor().code).toBe('INVALID_INTENT')
  },
)
