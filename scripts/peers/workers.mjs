/** Starts workers, waits for their effects and their outcomes, and ends them by their own id. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const SCRIPT = fileURLToPath(new URL('worker.mjs', import.meta.url))

export function startWorker(order) {
  const child = spawn(process.execPath, [SCRIPT, JSON.stringify(order)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const outcomes = []
  let complaints = ''
  let said
  const effect = new Promise((resolve) => (said = resolve))
  child.stderr.setEncoding('utf8').on('data', (text) => (complaints = (complaints + text).slice(-2_000)))
  const lines = createInterface({ input: child.stdout }).on('line', (line) => {
    if (line === 'effect') said(true)
    else if (line.startsWith('{')) outcomes.push(JSON.parse(line))
  })
  const ended = Promise.all([once(child, 'exit'), once(lines, 'close')])
  void ended.then(() => said(false))
  return {
    /** Resolves to false when it ended without one. */
    effect,
    async outcomes() {
      await ended
      if (outcomes.length < order.calls.length) throw new Error(`a worker ended early:\n${complaints}`)
      return outcomes
    },
    pause: () => child.kill('SIGSTOP'),
    resume: () => child.kill('SIGCONT'),
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
  }
}
