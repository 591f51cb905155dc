/**
 * `npm run planted`: every defect of scripts/planted/ is applied in turn to a copy of the sources, and the tests that
 * should notice are run. A defect that no test notices is a hole in the tests, and fails the run.
 *
 *   node scripts/planted.mjs [--only words of a name] [--list] [--control]
 */
import { execFile } from 'node:child_process'
import { chmodSync, cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs, promisify } from 'node:util'
import { ensureInstalled } from './install.mjs'
import { apply, control, defects } from './planted/defects.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const run = promisify(execFile)
const COPIED = [
  'src',
  'test',
  'scripts',
  'examples',
  'docs',
  'package.json',
  'tsconfig.json',
  'tsconfig.build.json',
  'vitest.config.ts',
]
const BENCHES = 3

const { values: flags } = parseArgs({
  options: {
    only: { type: 'string' },
    list: { type: 'boolean', default: false },
    control: { type: 'boolean', default: false },
  },
})
const chosen = flags.control
  ? [control]
  : defects.filter(({ name }) => flags.only === undefined || name.includes(flags.only))
if (flags.list) {
  for (const { name, file } of chosen) console.log(`${name}  (${file})`)
  process.exit(0)
}
if (chosen.length === 0) {
  console.log(`no planted defect has "${flags.only}" in its name; --list shows them all`)
  process.exit(1)
}
if (!ensureInstalled()) process.exit(1)

/** A copy of the sources that defects can be planted in, with the dependencies of this one. */
function makeBench() {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'ibid-planted-'))
  // A test starts a process of another user, who has to read the code.
  chmodSync(folder, 0o755)
  for (const name of COPIED) cpSync(path.join(root, name), path.join(folder, name), { recursive: true })
  symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'))
  return folder
}

const TSC = path.join(root, 'node_modules', 'typescript', 'bin', 'tsc')

async function build(folder) {
  await run(process.execPath, [TSC, '-p', 'tsconfig.build.json'], { cwd: folder })
}

/** One file by itself, whatever its types: they are for the tests to see. False: it is no program at all. */
async function buildOne(folder, file) {
  const settings = {
    extends: './tsconfig.build.json',
    compilerOptions: { noCheck: true, noResolve: true, types: [] },
    files: [file],
    include: [],
  }
  writeFileSync(path.join(folder, 'tsconfig.planted.json'), JSON.stringify(settings))
  return await run(process.execPath, [TSC, '-p', 'tsconfig.planted.json'], { cwd: folder }).then(
    () => true,
    () => false,
  )
}

/** The names of the tests that failed. */
async function failing(folder, tests) {
  const report = path.join(folder, 'reports', 'vitest.json')
  rmSync(report, { force: true })
  const vitest = path.join(root, 'node_modules', 'vitest', 'vitest.mjs')
  const args = [vitest, 'run', ...tests, '--bail=1', '--coverage.enabled=false']
  const failure = await run(process.execPath, args, { cwd: folder, maxBuffer: 256 * 1024 * 1024 }).then(
    () => undefined,
    (error) => error,
  )
  let results
  try {
    results = JSON.parse(readFileSync(report, 'utf8')).testResults
  } catch {
    throw new Error(`vitest left no report:\n${failure?.stdout ?? ''}\n${failure?.stderr ?? ''}`)
  }
  const failed = results.flatMap(({ name, status, assertionResults }) => {
    const tests = assertionResults.filter((test) => test.status === 'failed').map((test) => test.fullName)
    return tests.length > 0 || status !== 'failed' ? tests : [`${path.relative(folder, name)} did not load`]
  })
  return failed
}

async function tryDefect(folder, defect) {
  const built = defect.file.replace(/^src/, 'dist').replace(/ts$/, 'js')
  const sound = [defect.file, built].map((name) => [
    path.join(folder, name),
    readFileSync(path.join(folder, name)),
  ])
  const [[file, text]] = sound
  writeFileSync(file, apply(defect, text.toString()))
  try {
    if (!(await buildOne(folder, defect.file))) return { told: 'NO PROGRAM, so nobody could have written it' }
    const [first] = await failing(folder, defect.tests)
    return first === undefined ? { told: 'NOT CAUGHT' } : { told: `caught by: ${first}`, isCaught: true }
  } finally {
    for (const [name, before] of sound) writeFileSync(name, before)
  }
}

const todo = [...chosen.entries()]
const missed = []
let done = 0

async function work(folder) {
  try {
    for (let next = todo.shift(); next; next = todo.shift()) {
      const [, defect] = next
      const { told, isCaught } = await tryDefect(folder, defect)
      done++
      if (!isCaught) missed.push(defect.name)
      console.log(`${String(done).padStart(3)}/${chosen.length}  ${defect.name}\n         ${told}`)
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A test that is red by itself would catch everything: without a defect all of them have to be green. */
const first = makeBench()
await build(first)
const red = await failing(first, [...new Set(chosen.flatMap(({ tests }) => tests))])
if (red.length > 0) {
  rmSync(first, { recursive: true, force: true })
  console.log(`red without any defect, so nothing could be told: ${red[0]}`)
  process.exit(1)
}
const others = Array.from({ length: Math.min(BENCHES, chosen.length) - 1 }, async () => {
  const folder = makeBench()
  await build(folder)
  await work(folder)
})
await Promise.all([work(first), ...others])
console.log(`\n${chosen.length - missed.length} of ${chosen.length} planted defects caught`)
for (const name of missed) console.log(`NOT CAUGHT: ${name}`)
process.exitCode = missed.length === 0 ? 0 : 1
