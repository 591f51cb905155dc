/** What passes from one connection to another, and what stays. */
import { expect, test } from 'vitest'
import { passable } from '../../src/server/forward.js'

test('headers of the connection stay, those that the sender declared to be so too, wherever they stand', () => {
  const given = [
    'X-Hop',
    '1',
    'Connection',
    'keep-alive, X-Hop',
    'Host',
    'a',
    'X-Kept',
    '2',
    'TE',
    'x',
    'Via',
    '3',
  ]
  expect(passable(given, new Set(['via']))).toEqual(['x-kept', '2'])
  expect(passable(['Connection', 'close', 'Set-Cookie', 'a', 'Set-Cookie', 'b'])).toEqual([
    'set-cookie',
    'a',
    'set-cookie',
    'b',
  ])
})
