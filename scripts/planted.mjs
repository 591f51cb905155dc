/**
 * `npm run planted`: every defect of scripts/planted/ is applied in turn to a copy of the sources, and the tests that
 * should notice are run. A defect that no test notices is a hole in the tests, and fails the run.
 *
 *   node scripts/planted.mjs [--only words of a name] [--list] [--control]
 */
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { openBench } from './benches/bench.mjs'
import { ensureInstalled } from './install.mjs'
import { apply, control, defects } from './planted/defects.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const BENCHES = 3
/** Tests have time limits of their own; this is for a vitest that hangs. */
const mostMs = (files) => 300_000 + 60_000 * files.length

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

function filesOf(test) {
  if (test.endsWith('.test.ts')) return [test]
  const names = readdirSync(path.join(root, test)).filter((name) => name.endsWith('.test.ts'))
  return names.map((name) => `${test}/${name}`)
}

/** The tests of its own name first: most defects are caught there. */
function stagesOf({ file, tests }) {
  const own = `${path.basename(file, '.ts')}.test.ts`
  const files = [...new Set(tests.flatMap(filesOf))]
  const isOwn = (test) => path.basename(test) === own
  const stages = [files.filter(isOwn), files.filter((test) => !isOwn(test))]
  return stages.filter((stage) => stage.length > 0)
}

async function tryDefect(bench, defect) {
  const text = apply(defect, readFileSync(path.join(root, defect.file), 'utf8'))
  try {
    const first = await bench.ask({ file: defect.file, text, stages: stagesOf(defect) })
    return first === undefined ? { told: 'NOT CAUGHT' } : { told: `caught by: ${first}`, isCaught: true }
  } catch (error) {
    return { told: `NOT TRIED: ${error.message}, so nobody could have written it` }
  }
}

const todo = [...chosen]
const missed = []
let done = 0

async function work(bench) {
  for (let next = todo.shift(); next; next = todo.shift()) {
    const { told, isCaught } = await tryDefect(bench, next)
    done++
    if (!isCaught) missed.push(next.name)
    console.log(`${String(done).padStart(3)}/${chosen.length}  ${next.name}\n         ${told}`)
  }
}

/** A test that is red by itself would catch everything: without a defect all of them have to be green. */
async function redWithoutAny(benches) {
  const files = [...new Set(chosen.flatMap(({ tests }) => tests.flatMap(filesOf)))]
  const shares = benches.map((_, i) => files.filter((__, n) => n % benches.length === i))
  const asked = benches.map((bench, i) => bench.ask({ stages: shares[i].map((file) => [file]) }))
  return (await Promise.all(asked)).find((first) => first !== undefined)
}

const benches = await Promise.all(
  Array.from({ length: Math.min(BENCHES, chosen.length) }, () => openBench({ built: true, mostMs })),
)
try {
  const red = await redWithoutAny(benches)
  if (red === undefined) await Promise.all(benches.map(work))
  else console.log(`red without any defect, so nothing could be told: ${red}`)
} finally {
  for (const bench of benches) bench.close()
}
if (done === 0) process.exit(1)
console.log(`\n${chosen.length - missed.length} of ${chosen.length} planted defects caught`)
for (const name of missed) console.log(`NOT CAUGHT: ${name}`)
process.exitCode = missed.length === 0 ? 0 : 1
