import { describe, expect, it } from 'vitest'
import { type Duration, toMs } from '../../src/core/duration.js'
import { refusal } from '../key/refusal.js'

it.each<[Duration, number]>([
  [500, 500],
  [0, 0],
  [1.6, 2],
  ['0s', 0],
  ['250ms', 250],
  ['30s', 30_000],
  ['1.5m', 90_000],
  ['24h', 86_400_000],
  ['7d', 604_800_000],
  ['36500d', 3_153_600_000_000],
])('%j is %i ms [R11]', (written, ms) => {
  expect(toMs(written, 'window')).toBe(ms)
})

it('seconds and milliseconds are never mixed: a unit says its own (powertools-java#1281) [R11]', () => {
  expect(toMs(30, 'lease')).toBe(30)
  expect(toMs('30s', 'lease')).toBe(1_000 * toMs('30ms', 'lease'))
})

it('a zero is a zero, and not taken for unset (powertools-python#4759) [R6]', () => {
  expect(toMs(0, 'wait')).toBe(0)
})

describe('refuses, naming the field', () => {
  const cyclic: Record<string, unknown> = {}
  cyclic['self'] = cyclic
  it.each<[unknown, string]>([
    ['30', 'window is "30"'],
    ['s', 'window is "s"'],
    ['-5s', 'window is "-5s"'],
    ['5 s', 'window is "5 s"'],
    ['1w', 'window is "1w"'],
    ['36501d', 'window is "36501d"'],
    [3_153_600_000_001, 'window is 3153600000001'],
    [['5s'], 'window is of type object'],
    [-1, 'window is -1'],
    [Number.NaN, 'window is NaN'],
    [Number.POSITIVE_INFINITY, 'window is Infinity'],
    [null, 'window is of type object'],
    [undefined, 'window is of type undefined'],
    [10n, 'window is of type bigint'],
    [cyclic, 'window is of type object'],
  ])('%o [R11]', (written, message) => {
    expect(refusal(() => toMs(written as Duration, 'window')).message).toContain(message)
  })
})
