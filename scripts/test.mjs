/**
 * `npm test`: everything that has to hold, from a fresh clone on. A stage that fails does not stop the
 * ones after it, so that one run shows everything. The last line counts tests and static checks together.
 */
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { ensureInstalled, root } from './install.mjs'
import { runQuiet, runShown, seconds } from './stage.mjs'
import { indented, outsideErrors, readRun, readTally, together, uncovered, unproven } from './results.mjs'

if (!ensureInstalled()) {
  console.log('0 passed, 1 failed')
  process.exit(1)
}

const reports = fileURLToPath(new URL('reports/', root))
mkdirSync(reports, { recursive: true })
const report = `${reports}vitest.json`
const tally = process.env['IBID_TEST_TALLY'] ?? `${reports}tally.jsonl`
const outside = `${reports}outside-errors.json`
const coverage = fileURLToPath(new URL('coverage/coverage-summary.json', root))
for (const leftover of [tally, coverage]) rmSync(leftover, { force: true })
const { name, version } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'))
const tarball = `${reports}${name}-${version}.tgz`
const started = performance.now()

/** The order matters in two places: type checks and tests that import 'ibid' read dist/. */
const stages = [
  await runQuiet('servers', ['node', 'scripts/servers/install.mjs']),
  await runQuiet('build', ['node', 'scripts/build.mjs']),
  await runQuiet('format', ['oxfmt', '--check']),
  await runQuiet('lint', ['oxlint']),
  await runQuiet('types', ['tsc', '-p', 'tsconfig.json']),
  await runQuiet('types of the page', ['tsc', '-p', 'dashboard/tsconfig.json']),
  await runQuiet('types of its tests', ['tsc', '-p', 'test/page/tsconfig.json']),
  await runQuiet('pack', ['npm', 'pack', '--ignore-scripts', '--pack-destination', reports]),
  await runQuiet('publint', ['publint', '--strict', tarball]),
  await runQuiet('attw', ['attw', '--profile', 'esm-only', tarball]),
  await runQuiet('dead code', ['knip']),
]
/** Counting branches slows tests down: only those whose branches count are run that way. */
const COVERED = ['test/core', 'test/key']
const counted = await testRun('core and key', ['vitest', 'run', ...COVERED, '--coverage'])
const others = await testRun('tests', [
  'vitest',
  'run',
  ...COVERED.flatMap((at) => ['--exclude', `${at}/**`]),
])
const run = together(counted.run, others.run)

async function testRun(name, command) {
  for (const leftover of [report, outside]) rmSync(leftover, { force: true })
  const stage = await runShown(name, command, { IBID_TEST_TALLY: tally })
  return { ...stage, run: readRun(report), strays: outsideErrors(outside) }
}

/** With all tests green and no error outside of them, there is something else that vitest fails on. */
const unexplained = ({ ok, run, strays }) => !ok && run.failed.length + strays.length === 0

const checks = stages.map(({ name, ok }) => ({ name, ok }))
const strays = [...counted.strays, ...others.strays]
checks.push({ name: 'no error outside of a test', ok: strays.length === 0 })
checks.push({ name: 'coverage', ok: !unexplained(counted) })
checks.push({ name: 'nothing else that vitest fails on', ok: !unexplained(others) })
// However it was done: a condition, an option, a call in the middle of the test.
checks.push({ name: 'no test was skipped', ok: run.skipped.length === 0 })
const missing = unproven(run)
checks.push({ name: 'requirements proven', ok: missing.length === 0 })

const red = checks.filter(({ ok }) => !ok)
const failed = red.length + run.failed.length
const passed = checks.length - red.length + run.passed

console.log('\nSummary')
console.log(`  tests       ${run.passed} passed, ${run.failed.length} failed, ${run.skipped.length} skipped`)
console.log(`  checks      ${checks.length - red.length} passed, ${red.length} failed`)
const tallied = Object.entries(readTally(tally)).map(
  ([name, count]) => `${name} ${count.toLocaleString('en')}`,
)
console.log(`  in tests    ${tallied.join(', ') || 'no processes, kills or interleavings were counted'}`)
const times = [...stages, counted, others].map(({ name, ms }) => `${name} ${seconds(ms)}`)
console.log(`  duration    ${seconds(performance.now() - started)}: ${times.join(', ')}`)
for (const name of run.skipped) console.log(`  skipped     ${name}`)
for (const { name } of red) console.log(`  FAILED      ${name}`)
if (!counted.ok) {
  for (const file of uncovered(coverage)) console.log(`  coverage    ${file}`)
}
for (const error of strays) console.log(`  stray error ${indented(error)}`)
if (missing.length > 0)
  console.log(`  unproven    ${missing.join(', ')}: no test with that number ran and passed`)
for (const name of run.failed) console.log(`  FAILED      ${name}`)
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1
