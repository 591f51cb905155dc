import { expect, it } from 'vitest'
import { own } from '../../src/core/own.js'

it('finds what a table has, and nothing that it was only given', () => {
  const table = { a: 1, b: 0 }
  expect(['a', 'b', 'c', 'constructor', 'toString', '__proto__'].map((name) => own(table, name))).toEqual([
    1,
    0,
    ...Array<undefined>(4).fill(undefined),
  ])
})
