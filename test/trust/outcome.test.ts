/** What a row makes of a run of tests: only what ran and passed has passed, and nothing red is left out. */
import { expect, it } from 'vitest'
import { type FileResult, outcomeOf } from '../../scripts/trust/outcome.mjs'

const file = (status: string, ...statuses: string[]): FileResult => ({
  name: 'a.test.ts',
  status,
  assertionResults: statuses.map((each) => ({ fullName: `the ${each} one`, status: each })),
})

it.each([
  ['all is green', [file('passed', 'passed')], 0, []],
  ['a test is red', [file('failed', 'passed', 'failed')], 1, ['the failed one']],
  ['a file does not load', [file('failed')], 1, ['a.test.ts did not load']],
  ['a test was skipped', [file('passed', 'passed', 'skipped')], 0, ['the skipped one was not run']],
  [
    'an error is outside of any test',
    [file('passed', 'passed')],
    1,
    ['vitest ended with 1 outside of any test'],
  ],
  ['a worker died with its file', [], null, ['vitest ended with null outside of any test']],
])('where %s, a row hears of it', (_what, results, code, failed) => {
  expect(outcomeOf(results, code).failed).toEqual(failed)
})
