import { expect, it } from 'vitest'
import { UnderWay } from '../../src/core/under-way.js'

it('has what was set, by key, until it is taken', () => {
  const underWay = new UnderWay<string, number>()
  underWay.set('a', 1)
  underWay.set('b', 2)
  expect([underWay.get('a'), underWay.get('b'), underWay.get('c'), underWay.size]).toEqual([
    1,
    2,
    undefined,
    2,
  ])
  expect([underWay.keys(), underWay.values()]).toEqual([
    ['a', 'b'],
    [1, 2],
  ])
  expect(underWay.take('a')).toBe(1)
  expect([underWay.get('a'), underWay.take('a'), underWay.size]).toEqual([undefined, undefined, 1])
})

it('has the later of two under one key', () => {
  const underWay = new UnderWay<string, number>()
  underWay.set('a', 1)
  underWay.set('a', 2)
  expect([underWay.get('a'), underWay.size]).toEqual([2, 1])
})

it('takes nothing away in the place of what was asked for', () => {
  const [mine, another] = [{}, {}]
  const underWay = new UnderWay<string, object>()
  underWay.set('a', mine)
  underWay.set('a', another)
  expect([underWay.take('a', mine), underWay.get('a')]).toEqual([undefined, another])
  expect([underWay.take('a', another), underWay.size]).toEqual([another, 0])
})

it('gives lists that stay as they are', () => {
  const underWay = new UnderWay<string, number>()
  underWay.set('a', 1)
  const [keys, values] = [underWay.keys(), underWay.values()]
  underWay.take('a')
  expect([keys, values, underWay.keys(), underWay.values()]).toEqual([['a'], [1], [], []])
})
