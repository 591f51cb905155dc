/** Keeps the tidy rules over everything that people write here, and shows of each rule that it notices a breach. */
import { describe, expect, test } from 'vitest'
import { houseFiles, read } from './files.js'
import { RULES } from './rules.js'

describe.each(RULES.map((rule) => [rule.name, rule] as const))('%s', (_name, { looksAt, find, breach }) => {
  test('the house keeps it', () => {
    const problems = houseFiles()
      .filter(looksAt)
      .flatMap((path) => find(path, read(path)).map((problem) => `${path}: ${problem}`))
    expect(problems).toEqual([])
  })

  test('a breach is noticed', () => {
    expect(looksAt(breach.path)).toBe(true)
    expect(find(breach.path, breach.text)).not.toEqual([])
  })
})
