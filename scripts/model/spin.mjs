/**
 * Spin, from the model to a verdict: generates the verifier, compiles it, runs it over every reachable state, and
 * reads what it says. The search is exhaustive (no bitstate hashing); one that was cut short is never called complete.
 */
import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { ensureDebian } from '../servers/debian.mjs'

const MODEL = fileURLToPath(new URL('../../model/protocol.pml', import.meta.url))
const SPIN = '/usr/bin/spin'
const MOST_MB = 7_500
const MOST_DEPTH = 200_000

export async function ensureSpin() {
  await ensureDebian(['spin', 'gcc', 'libc6-dev'], [SPIN, '/usr/bin/gcc'])
}

/** The version, for the record. */
export async function spinVersion() {
  return (await run(SPIN, ['-V'])).output.trim().replace(/ -- .*/, '')
}

const flagsOf = (defines) =>
  Object.entries(defines).map(([name, value]) => (value === true ? `-D${name}` : `-D${name}=${value}`))

/** `large`: compiled for speed, and states kept in less room. Otherwise what takes time is the compiler. */
export async function verify(defines, { large = false } = {}) {
  const startMs = performance.now()
  const folder = await mkdtemp(path.join(tmpdir(), 'ibid-spin-'))
  try {
    await must(SPIN, ['-a', ...flagsOf(defines), MODEL], folder)
    const speed = large ? ['-O2', '-DCOLLAPSE'] : ['-O0']
    const options = ['-w', '-DSAFETY', '-DNOFAIR', `-DMEMLIM=${MOST_MB}`]
    await must('gcc', [...speed, ...options, '-o', 'pan', 'pan.c'], folder)
    // -E: whoever waits for ever is found by the model's Judge, which tells a dead worker from a stuck one.
    const { output } = await run('./pan', ['-E', `-m${MOST_DEPTH}`, large ? '-w26' : '-w20'], folder)
    const verdict = read(output)
    if (verdict.violation) verdict.trail = await replayTrail(defines, folder)
    return { ...verdict, ms: performance.now() - startMs }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** What the verifier printed, as figures. */
export function read(output) {
  const figure = (pattern) => Number(pattern.exec(output)?.[1] ?? Number.NaN)
  const violation = /assertion violated (.+?) \(at depth/.exec(output)?.[1]
  const errors = figure(/errors: (\d+)/)
  const isCut =
    /max search depth too small|out of memory|resource limit|MEMLIM bound|Interrupted|not completed/i.test(
      output,
    )
  return {
    states: figure(/^\s*([\d.e+]+) states, stored/m),
    transitions: figure(/^\s*([\d.e+]+) transitions/m),
    depth: figure(/depth reached (\d+)/),
    errors,
    memoryMb: figure(/^\s*([\d.]+)\s+total actual memory usage/m),
    violation,
    complete: errors === 0 && !isCut,
    trail: [],
  }
}

/** The steps to a violation, as the model says them. */
async function replayTrail(defines, folder) {
  const { output } = await run(
    SPIN,
    ['-t', '-T', '-k', 'protocol.pml.trail', ...flagsOf(defines), MODEL],
    folder,
  )
  return output.split('\n').filter((line) => line.startsWith('@ '))
}

/** One random run of the model, in a folder of its own: Spin leaves files where it stands. */
export async function simulate(defines, seed, folder) {
  const { output } = await run(SPIN, ['-T', `-n${seed}`, '-u20000', ...flagsOf(defines), MODEL], folder)
  return output.split('\n')
}

async function must(command, args, cwd) {
  const { code, output } = await run(command, args, cwd)
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} failed:\n${output}`)
}

function run(command, args, cwd) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
    const chunks = []
    child.stdout.on('data', (chunk) => chunks.push(chunk))
    child.stderr.on('data', (chunk) => chunks.push(chunk))
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, output: Buffer.concat(chunks).toString() }))
  })
}
