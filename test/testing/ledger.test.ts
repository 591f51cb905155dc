/** The ledger of effects, and the tally of a test run. */
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { ledger, tally } from '../../src/testing/index.js'

let directory: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'ibid-ledger-'))
})

afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(directory, { recursive: true, force: true })
})

it('counts effects by key, over everyone who writes to the file', () => {
  const [one, two] = [ledger(join(directory, 'l')), ledger(join(directory, 'l'))]
  expect(one.all()).toEqual([])
  one.append('a', { amount: 1 })
  two.append('b')
  two.append('a')
  expect([one.count('a'), two.count('b'), one.count('c')]).toEqual([2, 1, 0])
  expect(two.all()[0]).toEqual({ key: 'a', pid: process.pid, data: { amount: 1 } })
})

it('does not count a line that was cut off', () => {
  const cut = ledger(join(directory, 'l'))
  cut.append('a')
  appendFileSync(cut.file, '{"key":"a","pi')
  expect(cut.count('a')).toBe(1)
})

it('tallies what a test run did in the file it was told of, and nowhere else', () => {
  const file = join(directory, 'tally')
  vi.stubEnv('IBID_TEST_TALLY', '')
  tally({ processes: 1 })
  vi.stubEnv('IBID_TEST_TALLY', file)
  tally({ processes: 1 })
  tally({ kills: 1 })
  tally({ interleavings: 123 })
  expect(readFileSync(file, 'utf8')).toBe('{"processes":1}\n{"kills":1}\n{"interleavings":123}\n')
})
