/** A server as a child process: on a free port, in a folder of its own, ended by its process id. */
import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import net from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Not one that the system would give: those it also gives to connections that go out, and one of them could have the
 * port by the time that a server is up, or is up again after it was killed.
 */
const PORTS = { first: 10_000, last: 32_000 }
const TRIES = 100

export async function freePort() {
  for (let tried = 1; ; tried++) {
    const port = randomInt(PORTS.first, PORTS.last + 1)
    const server = net.createServer()
    try {
      await new Promise((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve))
    } catch (error) {
      if (tried === TRIES) throw error
      continue
    }
    await new Promise((resolve) => server.close(resolve))
    return port
  }
}

export function temporaryFolder(name) {
  return mkdtemp(path.join(os.tmpdir(), `ibid-${name}-`))
}

/** Starts a program and keeps the last of its output, so that a failure can be explained. */
export function startProcess(command, args, options = {}) {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options })
  const lines = []
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text) => {
      lines.push(text)
      if (lines.length > 200) lines.shift()
    })
  }
  const exited = new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }))
    child.once('error', (error) => resolve({ code: -1, signal: String(error) }))
  })
  let gone = false
  void exited.then(() => (gone = true))
  return {
    pid: child.pid,
    exited,
    get gone() {
      return gone
    },
    output: () => lines.join(''),
    async stop(signal = 'SIGTERM') {
      if (!gone) child.kill(signal)
      await exited
    },
  }
}

/** Asks until `probe` resolves; explains with the server's own words when it never does. */
export async function untilReady(server, probe, withinMs = 30_000) {
  const stop = Date.now() + withinMs
  for (;;) {
    if (server.gone) throw new Error(`the server ended before it was ready:\n${server.output()}`)
    try {
      return await probe()
    } catch (error) {
      if (Date.now() > stop)
        throw new Error(`not ready in ${withinMs} ms:\n${server.output()}`, { cause: error })
    }
    await sleep(50)
  }
}

export function removeFolder(folder) {
  return rm(folder, { recursive: true, force: true, maxRetries: 5 })
}
