/** What a test run left behind, read for the summary: vitest's report, and what the tests counted themselves. */
import { existsSync, readFileSync } from 'node:fs'
import { isAbsolute, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { root } from './install.mjs'
import { numbersIn, statements } from './requirements.mjs'

/** Counts by test. A file that could not even be loaded counts as one failed test. */
export function readRun(file) {
  const run = { passed: 0, failed: [], skipped: [], provenBy: new Map() }
  if (!existsSync(file))
    return { ...run, failed: ['vitest left no report: it did not get as far as the tests'] }
  for (const { name, status, assertionResults } of JSON.parse(readFileSync(file, 'utf8')).testResults) {
    const path = isAbsolute(name) ? relative(fileURLToPath(root), name) : name
    if (status === 'failed' && !assertionResults.some((test) => test.status === 'failed')) {
      run.failed.push(`${path} (the file itself)`)
    }
    for (const test of assertionResults) {
      if (test.status === 'passed') {
        run.passed++
        for (const number of numbersIn(test.fullName)) run.provenBy.set(number, test.fullName)
      } else if (test.status === 'failed') run.failed.push(`${path} › ${test.fullName}${reason(test)}`)
      else run.skipped.push(`${path} › ${test.fullName}`)
    }
  }
  return run
}

/** One run after the other, as one. */
export function together(...runs) {
  return {
    passed: runs.reduce((sum, { passed }) => sum + passed, 0),
    failed: runs.flatMap(({ failed }) => failed),
    skipped: runs.flatMap(({ skipped }) => skipped),
    provenBy: new Map(runs.flatMap(({ provenBy }) => [...provenBy])),
  }
}

/** Enough of a failure to know it by when only the summary is left. */
function reason({ failureMessages = [] }) {
  return indented(failureMessages.join('\n'))
}

/** The first lines of a text, each below the summary's names. */
export function indented(text) {
  const lines = text.split('\n').slice(0, 12)
  return lines.map((line) => `\n                ${line}`).join('')
}

/** The errors that belonged to no test, as the reporter of them wrote them down. */
export function outsideErrors(file) {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : []
}

/** Files with a branch that no test took, of those whose coverage is asked for. */
export function uncovered(file) {
  if (!existsSync(file)) return ['no coverage was written']
  const files = Object.entries(JSON.parse(readFileSync(file, 'utf8'))).filter(([path]) => path !== 'total')
  const short = files.filter(([, { branches }]) => branches.covered < branches.total)
  return short.map(([path, { branches }]) => `${path}: ${branches.covered} of ${branches.total} branches`)
}

/** Requirements for which no test ran and passed. */
export function unproven({ provenBy }) {
  return Object.keys(statements()).filter((number) => !provenBy.has(number))
}

/** Lines of JSON, each `{ name: count }`, summed by name. Tests append to it from many processes. */
export function readTally(file) {
  const sums = { processes: 0, kills: 0, interleavings: 0 }
  if (!existsSync(file)) return {}
  for (const line of readFileSync(file, 'utf8').split('\n').filter(Boolean)) {
    for (const [name, count] of Object.entries(JSON.parse(line))) sums[name] = (sums[name] ?? 0) + count
  }
  return sums
}
