/**
 * Benches for wrong programs, several at once: each is a copy of the sources, with a vitest over it that stays up. One
 * whose program does not end in time is ended and replaced.
 */
import { execFile, fork } from 'node:child_process'
import { chmodSync, cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const root = fileURLToPath(new URL('../..', import.meta.url))
const run = promisify(execFile)
const LANE = fileURLToPath(new URL('lane.mjs', import.meta.url))
const TSC = path.join(root, 'node_modules', 'typescript', 'bin', 'tsc')
const COPIED = [
  'src',
  'test',
  'scripts',
  'examples',
  'docs',
  'model',
  'package.json',
  'tsconfig.json',
  'tsconfig.build.json',
  'vitest.config.ts',
]
/** How long a stage may take on a busy machine: a program that takes longer never ends. */
const MOST_MS = (files) => 40_000 + 10_000 * files.length

/** `built`: what it is given is also built, for the tests that start processes; otherwise those run what is sound. */
export async function openBench({ built = false, mostMs = MOST_MS } = {}) {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'ibid-bench-'))
  // A test starts a process of another user, who has to read the code.
  chmodSync(folder, 0o755)
  for (const name of COPIED) cpSync(path.join(root, name), path.join(folder, name), { recursive: true })
  symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'))
  if (!built) symlinkSync(path.join(root, 'dist'), path.join(folder, 'dist'))
  await makeSound()
  let lane = await start(folder, built)

  async function makeSound() {
    cpSync(path.join(root, 'src'), path.join(folder, 'src'), { recursive: true })
    if (built) await run(process.execPath, [TSC, '-p', 'tsconfig.build.json'], { cwd: folder })
  }

  /**
   * Stage by stage, the first test that fails when `file` has that `text`; undefined when none does. Rejects where the
   * text is no program at all.
   */
  async function ask({ file, text, stages }) {
    for (const files of stages) {
      const killedBy = await askStage({ file, text, files })
      if (killedBy !== undefined) return killedBy
    }
  }

  async function askStage(order) {
    const answer = await new Promise((resolve) => {
      const timer = setTimeout(() => resolve({ killedBy: 'it never ended' }), mostMs(order.files))
      lane.once('message', (said) => {
        clearTimeout(timer)
        resolve(said)
      })
      lane.once('exit', () => {
        clearTimeout(timer)
        resolve({ killedBy: 'its process ended' })
      })
      lane.send(order)
    })
    if (answer.killedBy === 'it never ended' || lane.exitCode !== null || lane.signalCode !== null) {
      end(lane)
      await makeSound()
      lane = await start(folder, built)
    }
    lane.removeAllListeners('message')
    lane.removeAllListeners('exit')
    if (answer.isNoProgram) throw new Error('that is no program')
    return answer.killedBy
  }

  return {
    ask,
    close() {
      end(lane)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** A group of its own, so that the workers of a vitest that hangs end with it. */
function start(folder, built) {
  const lane = fork(LANE, [folder, built ? 'built' : ''], {
    cwd: folder,
    detached: true,
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  return new Promise((resolve, reject) => {
    lane.once('message', () => {
      lane.removeAllListeners('exit')
      resolve(lane)
    })
    lane.once('exit', (code) => reject(new Error(`the bench did not start: ${code}`)))
  })
}

function end(lane) {
  try {
    process.kill(-lane.pid, 'SIGKILL')
  } catch {
    // It has ended by itself.
  }
}
