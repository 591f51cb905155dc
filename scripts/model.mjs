/**
 * The model of the protocol (model/protocol.pml), verified by Spin: every reachable state within the bounds of each
 * run, exhaustively. The same properties must find every planted fault, or the verification says nothing.
 *
 *   node scripts/model.mjs [--full] [--traces N] [--json]
 *
 * --traces N also replays N random runs of the model on the engine.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { FAULTS, LIMITS, runsOf } from './model/runs.mjs'
import { ensureSpin, spinVersion, verify } from './model/spin.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const { values: flags } = parseArgs({
  options: {
    full: { type: 'boolean', default: false },
    traces: { type: 'string', default: '0' },
    json: { type: 'boolean', default: false },
  },
})
const say = (line) => (flags.json ? process.stderr : process.stdout).write(`${line}\n`)
const count = (number) => number.toLocaleString('en')

await ensureSpin()
const result = {
  spin: await spinVersion(),
  size: flags.full ? 'full' : 'small',
  search: 'exhaustive',
  runs: await verifyRuns(),
  faults: await findFaults(),
  limits: await knownLimits(),
  traces: Number(flags.traces) > 0 ? replayTraces(Number(flags.traces)) : undefined,
}
const states = result.runs.reduce((sum, run) => sum + run.states, 0)
const sound = result.runs.every(({ complete }) => complete) && result.faults.every(({ caught }) => caught)
const known = result.limits.every(({ open, closed }) => open && closed)
const replayed = result.traces === undefined || (result.traces.mismatches === 0 && result.traces.sound)
say(`\n${count(states)} states in ${result.runs.length} runs, ${sound ? 'no violation' : 'NOT SOUND'}`)
if (flags.json) process.stdout.write(`${JSON.stringify({ ...result, states, sound: sound && known })}\n`)
process.exitCode = sound && known && replayed ? 0 : 1

/** The large ones one after the other: together they would need twice the memory. */
async function verifyRuns() {
  say(heading())
  return await inLanes(
    flags.full ? 1 : 2,
    runsOf(flags.full ? 'full' : 'small'),
    async ({ name, defines }) => {
      const verdict = await verify(defines, { large: flags.full })
      const { states: seen, transitions, depth, errors, memoryMb, ms, complete, violation, trail } = verdict
      const cells = [
        name.padEnd(32),
        count(seen).padStart(12),
        String(depth).padStart(7),
        String(errors).padStart(7),
      ]
      const costs = [`${Math.round(memoryMb)} MB`.padStart(8), `${(ms / 1000).toFixed(1)} s`.padStart(8)]
      say([...cells, ...costs, complete ? '' : ` ${violation ?? 'not complete'}`].join(' '))
      for (const line of trail) say(`    ${line}`)
      return { name, defines, states: seen, transitions, depth, errors, memoryMb, ms, complete, violation }
    },
  )
}

function heading() {
  return `${'policy'.padEnd(32)} ${'states'.padStart(12)}   depth  errors   memory     time`
}

async function findFaults() {
  say('\nplanted faults, each to be found:')
  return await inLanes(2, FAULTS, async ({ name, defines }) => {
    const { violation, trail } = await verify(defines)
    const caught = violation !== undefined
    say(`  ${caught ? 'found in a trace of' : 'NOT FOUND'} ${caught ? `${trail.length} steps` : ''}: ${name}`)
    return { name, caught, violation }
  })
}

async function knownLimits() {
  say('\nknown limits, each shown by a trace, and closed by what would close it:')
  return await inLanes(2, LIMITS, async ({ name, defines, closedBy }) => {
    const open = (await verify(defines)).violation !== undefined
    const closed = (await verify({ ...defines, ...closedBy })).complete
    say(
      `  ${open ? 'shown' : 'NO LONGER THERE'}: ${name}; ${closed ? 'closed' : 'NOT closed'} by ${Object.keys(closedBy)}`,
    )
    return { name, open, closed }
  })
}

/** In a run of the tests of its own, because the engine's sources are TypeScript. */
function replayTraces(traces) {
  const folder = mkdtempSync(path.join(tmpdir(), 'ibid-traces-'))
  const file = path.join(folder, 'figures.jsonl')
  say(`\nreplaying ${count(traces)} traces on the engine …`)
  try {
    const vitest = path.join(root, 'node_modules', 'vitest', 'vitest.mjs')
    const args = [vitest, 'run', 'test/model/traces.test.ts', '--coverage.enabled=false', '--reporter=dot']
    const env = { ...process.env, IBID_TRACES: String(traces), IBID_TRUST: file }
    const { status, stdout } = spawnSync(process.execPath, args, { cwd: root, env, encoding: 'utf8' })
    const lines = readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    const figures = lines.find((line) => 'traces' in line)
    const planted = lines.filter((line) => 'planted' in line)
    if (status !== 0) say(stdout)
    say(`  ${count(figures.traces)} traces, ${count(figures.steps)} steps, ${figures.mismatches} mismatches`)
    return {
      ...figures,
      sound: planted.length > 0 && planted.every(({ caught }) => caught),
      planted: planted.length,
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function inLanes(lanes, items, work) {
  const results = []
  const next = items.entries()
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      for (const [at, item] of next) results[at] = await work(item)
    }),
  )
  return results
}
