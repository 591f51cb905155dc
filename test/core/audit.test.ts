import { expect, it } from 'vitest'
import { writable } from '../../src/core/audit.js'

it.each([
  [undefined, null],
  ['', ''],
  ['as it was said', 'as it was said'],
  ['a\0b\0', 'a\uFFFDb\uFFFD'],
])('what is said goes on record without what a text cannot hold: %j', (said, written) => {
  expect(writable(said)).toBe(written)
})
