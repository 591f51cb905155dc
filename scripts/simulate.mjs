/**
 * `node scripts/simulate.mjs`: the real engine in virtual time, seed after seed, until enough store operations were
 * simulated; then the control, stores with a planted fault that have to be found.
 *
 *   --operations N   how many store operations (default 200,000)     --seed N     the first seed (default 1)
 *   --workers N      threads to share the work (default: all cores)  --json       one line of JSON
 *   --replay SEED    run one seed again and tell what happens        --plant NAME with this fault in the store
 */
import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { describeFound, explainSeed, PLANTS, replaySeed, simulate } from '../dist/testing/simulation/index.js'

const CONTROL_OPERATIONS = 400_000
const PROGRESS_MS = 5_000

if (isMainThread) await main()
else await work(workerData)

/** One thread's share: every so many-th seed. */
async function work(options) {
  let toldMs = performance.now()
  const onProgress = ({ counts, faults, seeds }) => {
    if (performance.now() - toldMs < 500) return
    toldMs = performance.now()
    parentPort.postMessage({ operations: counts.operations, faults, seeds }, [])
  }
  const { counts, faults, seeds, violations } = await simulate({ ...options, onProgress })
  parentPort.postMessage({ operations: counts.operations, counts, faults, seeds, violations }, [])
}

async function main() {
  const { values } = parseArgs({
    options: {
      operations: { type: 'string', default: '200000' },
      seed: { type: 'string', default: '1' },
      workers: { type: 'string', default: String(cpus().length) },
      json: { type: 'boolean', default: false },
      replay: { type: 'string' },
      plant: { type: 'string' },
    },
  })
  const plant = values.plant === undefined ? undefined : plantNamed(values.plant)
  if (values.replay !== undefined) return await replay(Number(values.replay), plant)

  const startedMs = performance.now()
  const seed = Number(values.seed)
  const result = await share(Number(values.operations), seed, Number(values.workers), values.json)
  const caught = await control(seed)
  const missed = Object.keys(PLANTS).filter((name) => !caught.has(name))
  const durationMs = Math.round(performance.now() - startedMs)
  const { operations, faults, seeds, violations, counts } = result
  if (values.json) {
    const line = {
      property: 'simulated operations keep every promise',
      ran: { operations, faults, seeds, ...counts },
      violations: violations.length,
      seeds: { first: seed, failing: violations.map((one) => one.seed).slice(0, 20) },
      durationMs,
      control: { planted: Object.keys(PLANTS).length, caught: caught.size },
    }
    console.log(JSON.stringify(line))
  } else {
    await tell(violations)
    for (const name of missed) console.log(`NOT FOUND: ${name}`)
    const figures = [
      `${count(operations)} operations`,
      `${count(faults)} faults`,
      `${count(seeds)} seeds from ${seed}`,
      `${violations.length} violations`,
      `${caught.size} of ${Object.keys(PLANTS).length} planted faults found`,
      `${(durationMs / 1_000).toFixed(1)} s`,
    ]
    console.log(figures.join(', '))
  }
  process.exitCode = violations.length === 0 && missed.length === 0 ? 0 : 1
}

/** The threads together; their seeds lie side by side. */
async function share(operations, seed, workers, isQuiet) {
  const sofar = Array.from({ length: workers }, () => ({ operations: 0, faults: 0, seeds: 0 }))
  const sum = (field) => sofar.reduce((total, one) => total + one[field], 0)
  const startedMs = performance.now()
  const progress = setInterval(() => {
    const rate = Math.round(sum('operations') / ((performance.now() - startedMs) / 1_000))
    const figures = `${count(sum('operations'))} of ${count(operations)} operations, ${count(sum('faults'))} faults`
    console.error(`${figures}, ${count(sum('seeds'))} seeds, ${count(rate)} operations a second`)
  }, PROGRESS_MS)
  if (isQuiet) clearInterval(progress)
  const ends = await Promise.all(
    sofar.map((_, n) => {
      const share = { seed: seed + n, stride: workers, operations: Math.ceil(operations / workers) }
      return run(share, (message) => (sofar[n] = message))
    }),
  )
  clearInterval(progress)
  const counts = { ...ends[0].counts }
  for (const name of Object.keys(counts)) {
    counts[name] = ends.reduce((total, end) => total + end.counts[name], 0)
  }
  const violations = ends.flatMap((end) => end.violations).sort((a, b) => a.seed - b.seed)
  return { operations: sum('operations'), faults: sum('faults'), seeds: sum('seeds'), counts, violations }
}

function run(workerData, onMessage) {
  return new Promise((resolve, reject) => {
    // Worlds are short-lived: with room for several of them, most are never looked at by the collector.
    const resourceLimits = { maxYoungGenerationSizeMb: 96 }
    const worker = new Worker(new URL(import.meta.url), { workerData, resourceLimits })
    worker.on('message', (message) => {
      onMessage(message)
      if (message.violations) resolve(message)
    })
    worker.once('error', reject)
  })
}

/** The planted faults that a search from this seed on finds. */
async function control(seed) {
  const caught = new Set()
  for (const [name, plant] of Object.entries(PLANTS)) {
    const { violations } = await simulate({ seed, operations: CONTROL_OPERATIONS, plant, untilFound: true })
    if (violations.length > 0) caught.add(name)
  }
  return caught
}

/** One story for every promise that was broken. */
async function tell(violations) {
  const told = new Set()
  for (const { seed, violation } of violations) {
    if (told.has(violation.promise)) continue
    told.add(violation.promise)
    const found = await explainSeed(seed)
    if (found) console.log(`${describeFound(found)}\n`)
  }
}

async function replay(seed, plant) {
  const found = await explainSeed(seed, plant)
  if (found) {
    console.log(describeFound(found))
    process.exitCode = 1
    return
  }
  const { trace, digest } = await replaySeed(seed, plant)
  for (const line of trace) console.log(line)
  console.log(`seed ${seed} breaks no promise; digest of its trace: ${digest}`)
}

function plantNamed(name) {
  if (name in PLANTS) return PLANTS[name]
  console.error(`there is no planted fault of that name; there are:\n  ${Object.keys(PLANTS).join('\n  ')}`)
  process.exit(1)
}

function count(number) {
  return number.toLocaleString('en')
}
