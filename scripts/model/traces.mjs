/**
 * Random runs of the model, as steps: who did what, with what result, and how the receipt looked afterwards. The same
 * seed gives the same run.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { TRACED } from './runs.mjs'
import { ensureSpin, simulate } from './spin.mjs'

const WORLD = 22
const STATES = ['absent', 'pending', 'released', 'succeeded', 'failed', 'unknown']
const STEP = /^@ (\d+) (\w+) (\w+) \| (\d+) (\d+) (\d+) (\d+) (\d+)$/

/** `seeds` numbers; the setting goes round with them, so that every policy and size has its share. */
export async function* traces(seeds, lanes = 2) {
  await ensureSpin()
  const waiting = []
  for (const seed of seeds) {
    waiting.push(traceOf(seed))
    if (waiting.length >= lanes) yield await waiting.shift()
  }
  for (const trace of waiting) yield await trace
}

async function traceOf(seed) {
  const { name: policy, workers, calls, defines } = TRACED[seed % TRACED.length]
  const folder = await mkdtemp(path.join(tmpdir(), 'ibid-trace-'))
  const lines = await simulate(defines, seed, folder)
  await rm(folder, { recursive: true, force: true })
  const violated = lines.find((line) => line.includes('assertion violated'))
  const all = lines.map(stepOf).filter((step) => step !== undefined)
  // The model's Judge ends a run; what a person does with a held receipt after that is not looked at.
  const steps = all.slice(0, all.findIndex(({ line }) => line.startsWith(`@ ${WORLD} END `)) + 1)
  return { seed, policy, workers, calls, maxAttempts: defines.MAXATT, violated, steps }
}

function stepOf(line) {
  const read = STEP.exec(line.trim())
  if (!read) return undefined
  const [, who, what, how, st, token, attempt, ended, epoch] = read
  const receipt = {
    state: STATES[Number(st)],
    token: Number(token),
    attempt: Number(attempt),
    ended: ended === '1',
    epoch: Number(epoch),
  }
  return { who: Number(who), what, how, receipt, line: line.trim() }
}
