/** Benches for mutants, several at once. One whose mutant does not end in time is ended and replaced. */
import { fork } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { root } from '../work.mjs'

const LANE = fileURLToPath(new URL('lane.mjs', import.meta.url))
const COPIED = ['src', 'test', 'scripts', 'model', 'package.json', 'tsconfig.json', 'vitest.config.ts']
/** How long a stage may take on a busy machine: a mutant that takes longer never ends. */
const mostMs = (files) => 40_000 + 10_000 * files.length

export async function openBench() {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'ibid-mutants-'))
  for (const name of COPIED) cpSync(path.join(root, name), path.join(folder, name), { recursive: true })
  for (const name of ['node_modules', 'dist']) symlinkSync(path.join(root, name), path.join(folder, name))
  let lane = await start(folder)

  /** Stage by stage, the first test that fails; undefined when none does. */
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
      for (const name of ['src']) cpSync(path.join(root, name), path.join(folder, name), { recursive: true })
      lane = await start(folder)
    }
    lane.removeAllListeners('message')
    lane.removeAllListeners('exit')
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
function start(folder) {
  const lane = fork(LANE, [folder], {
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
