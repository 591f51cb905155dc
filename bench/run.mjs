/**
 * `npm run bench`: ours, peers and the raw limit, in one run. Each figure is the median of a few rounds, and the rounds
 * of all cells take turns, because a machine's mood changes from minute to minute: compare figures of one run only.
 *
 *   node bench/run.mjs [--quick] [--only sqlite,…]
 */
import { execFile } from 'node:child_process'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import os from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs, promisify } from 'node:util'

const { values: flags } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, only: { type: 'string' } },
})
const here = new URL('./', import.meta.url)
const run = promisify(execFile)

/** In a process of its own, so that no measurement lives off another's warm code or full heap. */
async function measure(module, name, settings) {
  const program = fileURLToPath(new URL('measure.mjs', here))
  const sent = JSON.stringify({ warmUpMs: flags.quick ? 100 : 2_000, ...settings })
  const { stdout } = await run(process.execPath, [program, `./${module}`, name, sent], {
    maxBuffer: 64 * 1024 * 1024,
  })
  return JSON.parse(stdout.trim().split('\n').at(-1))
}

const median = (numbers) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)]
const say = (text) => process.stderr.isTTY && process.stderr.write(`\r\u001b[K${text}`)
const figure = (value) => (value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(3))

async function runSuite(suite) {
  const context = await suite.open({ quick: flags.quick, say, measure })
  const taken = new Map(suite.cells.map((cell) => [cell.name, []]))
  try {
    for (let round = 1; round <= suite.rounds; round++) {
      for (const cell of suite.cells) {
        say(`${suite.title}: ${cell.name}, round ${round} of ${suite.rounds}`)
        await context.empty?.()
        const { module, call, settings } = cell.measure(context)
        taken.get(cell.name).push(await measure(module, call, settings))
      }
    }
  } finally {
    await context.close?.()
    say('')
  }
  const results = Object.fromEntries([...taken].map(([name, rounds]) => [name, median(rounds)]))
  print(suite, results)
  return { title: suite.title, results, rounds: Object.fromEntries(taken), ratios: ratiosOf(suite, results) }
}

function ratiosOf(suite, results) {
  return suite.ratios.map((ratio) => {
    const value = results[ratio.of] / (results[ratio.to] ?? ratio.to)
    const held = ratio.atLeast === undefined ? value <= ratio.atMost : value >= ratio.atLeast
    return { ...ratio, value, held }
  })
}

function print(suite, results) {
  console.log(`\n${suite.title}\n`)
  const width = Math.max(
    ...suite.cells.map(({ name }) => name.length),
    ...suite.ratios.map(ratioName).map((n) => n.length),
  )
  for (const { name, unit } of suite.cells)
    console.log(`  ${name.padEnd(width)}  ${figure(results[name]).padStart(12)} ${unit}`)
  console.log()
  for (const ratio of ratiosOf(suite, results)) {
    const bound = ratio.atLeast === undefined ? `at most ${ratio.atMost}` : `at least ${ratio.atLeast}`
    console.log(
      `  ${ratioName(ratio).padEnd(width)}  ${figure(ratio.value).padStart(12)} ${bound}: ${ratio.held ? 'held' : 'NOT HELD'}`,
    )
  }
}

function ratioName({ of, to }) {
  return `${of} / ${typeof to === 'number' ? to.toLocaleString('en') : to}`
}

const files = (await readdir(here)).filter((name) => name.endsWith('.suite.mjs')).sort()
const names = files.map((file) => file.replace('.suite.mjs', ''))
const wanted = flags.only?.split(',')
const unknown = wanted?.filter((name) => !names.includes(name)) ?? []
if (unknown.length > 0) {
  console.log(`there is no suite ${unknown.join(', ')}; there are ${names.join(', ')}`)
  process.exit(1)
}
const suites = []
for (const file of files) {
  if (wanted && !wanted.includes(file.replace('.suite.mjs', ''))) continue
  const { suites: found } = await import(new URL(file, here).href)
  for (const suite of found) suites.push(await runSuite(suite))
}
const cpu = os.cpus()[0]?.model ?? 'unknown'
const facts = {
  at: new Date().toISOString(),
  node: process.version,
  cores: os.cpus().length,
  cpu,
  quick: flags.quick,
}
const folder = new URL('results/', here)
await mkdir(folder, { recursive: true })
await writeFile(new URL('latest.json', folder), `${JSON.stringify({ ...facts, suites }, null, 2)}\n`)
console.log(
  `\n${facts.cores} cores, ${cpu}, Node ${facts.node}${flags.quick ? ', quick: too short to quote' : ''}; written to bench/results/latest.json`,
)
const missed = suites.flatMap(({ ratios }) => ratios.filter(({ held }) => !held))
if (missed.length > 0) console.log(`${missed.length} of the bounds did not hold in this run`)
