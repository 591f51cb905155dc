/**
 * `npm run trust`: one row for each property that a sceptic would ask about, run now, with a control for each; then the
 * table, printed and kept in docs/trust.md. Rows that were not asked for keep what their last run said.
 *
 *   node scripts/trust.mjs [--only id,id] [--quick] [--list] [--dry] [--into folder]
 *
 * --dry keeps nothing; --into keeps it elsewhere than in docs/.
 *
 * Ends with 1 when a row is violated, failed or INVALID.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { isBad, page, paint, verdictOf } from './trust/table.mjs'
import { findRow, ROWS } from './trust/rows.mjs'
import { root, runJson } from './trust/work.mjs'
import { versions } from './trust/versions.mjs'

const { values: flags } = parseArgs({
  options: {
    only: { type: 'string' },
    quick: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
    dry: { type: 'boolean', default: false },
    into: { type: 'string', default: path.join(root, 'docs') },
  },
})
const KEPT = path.join(flags.into, 'trust.json')
const PAGE = path.join(flags.into, 'trust.md')
const wanted = flags.only?.split(',')
const unknown = wanted?.filter((id) => !findRow(id)) ?? []
if (flags.list || unknown.length > 0) {
  for (const { id, property } of ROWS) console.log(`${id.padEnd(16)} ${property}`)
  for (const id of unknown) console.log(`there is no row ${id}`)
  process.exit(unknown.length === 0 ? 0 : 1)
}

const mine = {}
const size = flags.quick ? 'quick' : 'full'
const commit = commitNow()
const bad = []
const TELL_MS = 10_000
let toldMs = performance.now()

for (const row of wanted?.map(findRow) ?? ROWS) {
  const startMs = performance.now()
  const script = path.join(root, 'scripts', 'trust', 'row.mjs')
  const report = await runJson([script, row.id, size], { onLine: (line) => showProgress(row.id, line) })
  clearProgress()
  const date = new Date().toISOString().slice(0, 16).replace('T', ' ')
  mine[row.id] = { report, size, commit, date, durationMs: Math.round(performance.now() - startMs) }
  if (isBad(verdictOf(report))) bad.push(row.id)
  console.log(paint(row, mine[row.id]))
  if (!flags.dry) save()
}
if (bad.length > 0) console.log(`\nnot to be trusted: ${bad.join(', ')}`)
process.exitCode = bad.length === 0 ? 0 : 1

/** After every row: what a long run has found out is not lost with it, nor what another one has kept meanwhile. */
function save() {
  const kept = existsSync(KEPT) ? JSON.parse(readFileSync(KEPT, 'utf8')) : { rows: {} }
  const keep = { rows: { ...kept.rows, ...mine } }
  writeFileSync(KEPT, `${JSON.stringify(keep, undefined, 2)}\n`)
  writeFileSync(PAGE, page(ROWS, keep, versions()))
}

function git(...args) {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()
}

function commitNow() {
  try {
    const changed = git('status', '--porcelain', '--', 'src', 'test', 'scripts', 'model')
    return git('rev-parse', '--short', 'HEAD') + (changed === '' ? '' : ' with changes')
  } catch {
    return 'no commit'
  }
}

/** On a terminal, one line that changes; elsewhere, a line now and then. */
function showProgress(id, line) {
  const text = `${id}: ${line.slice(0, 100)}`
  if (process.stderr.isTTY) return void process.stderr.write(`\r\u001B[2K${text}`)
  if (performance.now() - toldMs < TELL_MS) return
  toldMs = performance.now()
  process.stderr.write(`${text}\n`)
}

function clearProgress() {
  if (process.stderr.isTTY) process.stderr.write('\r\u001B[2K')
}
