/** How a row gets its work done: a program that answers in JSON, or a run of the tests, with what they counted. */
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { readTally } from '../results.mjs'
import { outcomeOf } from './outcome.mjs'

export const root = fileURLToPath(new URL('../..', import.meta.url))

/** Runs node with `args`. Its standard error is progress, line by line; `onOut` hears what it prints as well. */
export function runNode(args, { env = {}, onLine = () => {}, onOut = () => {} } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, {
      cwd: root,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const out = []
    const err = []
    child.stdout.on('data', (chunk) => hear(chunk, out, onOut))
    child.stderr.on('data', (chunk) => hear(chunk, err, onLine))
    child.on('error', reject)
    child.on('close', (code) =>
      resolve({ code, stdout: Buffer.concat(out).toString(), stderr: Buffer.concat(err).toString() }),
    )
  })
}

function hear(chunk, into, tell) {
  into.push(chunk)
  const line = chunk.toString().trim().split('\n').at(-1)
  if (line) tell(line)
}

/** The last line of what it prints, as JSON. */
export async function runJson(args, options) {
  const { stdout, stderr, code } = await runNode(args, options)
  const line = stdout.trim().split('\n').at(-1) ?? ''
  try {
    return JSON.parse(line)
  } catch {
    throw new Error(
      `${args.join(' ')} ended with ${code} and no result: ${(stderr || stdout).trim().slice(-600)}`,
    )
  }
}

export const isThere = (file) => existsSync(path.join(root, file))

/** Test files, run once: which tests passed and failed, what they tallied, what they reported. */
export async function runTests(files, { env = {}, onLine } = {}) {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'ibid-trust-'))
  const report = path.join(folder, 'vitest.json')
  const tally = path.join(folder, 'tally.jsonl')
  const figures = path.join(folder, 'figures.jsonl')
  try {
    const vitest = path.join(root, 'node_modules', 'vitest', 'vitest.mjs')
    const shape = ['--coverage.enabled=false', '--reporter=json', `--outputFile=${report}`]
    const { code, stderr } = await runNode(
      [vitest, 'run', '--config', 'scripts/trust/vitest.config.mjs', '--root', '.', ...files, ...shape],
      {
        env: { ...env, IBID_TEST_TALLY: tally, IBID_TRUST: figures },
        onLine,
      },
    )
    if (!existsSync(report)) throw new Error(`vitest left no report: ${stderr.slice(-600)}`)
    const results = JSON.parse(readFileSync(report, 'utf8')).testResults
    const lines = existsSync(figures) ? readFileSync(figures, 'utf8').trim().split('\n') : []
    return {
      ...outcomeOf(results, code, (name) => path.relative(root, name)),
      tally: readTally(tally),
      figures: lines.map((line) => JSON.parse(line)),
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
