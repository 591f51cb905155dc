/**
 * The server as its users meet it: the compiled command in a process of its own, on a store in a folder, over
 * sockets.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { tally } from '../../src/testing/tally.js'

const CLI = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))
const run = promisify(execFile)

export interface Places {
  readonly url: string
  readonly proxyUrl?: string
  readonly metricsUrl?: string
  readonly key?: string
  readonly try?: readonly string[]
}

export interface Served extends Places {
  readonly child: ChildProcess
  /** What it has logged so far. */
  readonly log: () => string
  kill(): Promise<void>
  /** SIGTERM, and its end; resolves with the exit code. */
  stop(): Promise<number | null>
}

export interface House {
  readonly folder: string
  readonly store: string
  /** Flags as they stand on the command line. */
  serve(...flags: string[]): Promise<Served>
  /** The same, with more in its environment. */
  serveWith(env: Readonly<Record<string, string>>, ...flags: string[]): Promise<Served>
  /** Runs `ibid …` to its end. */
  ibid(...args: string[]): Promise<string>
  newKey(tenant: string, rights?: string): Promise<string>
  write(name: string, text: string): string
}

/** `release`: where the house is used by a whole file of tests, when to tear it down. */
export function openHouse(release: (close: () => Promise<void>) => void = onTestFinished): House {
  const folder = mkdtempSync(join(tmpdir(), 'ibid-server-'))
  const store = `sqlite:${join(folder, 'ibid.db')}`
  const running = new Set<Served>()
  release(async () => {
    await Promise.all([...running].map((one) => one.kill()))
    rmSync(folder, { recursive: true, force: true })
  })

  async function serveWith(env: Readonly<Record<string, string>>, ...flags: string[]): Promise<Served> {
    const port = flags.includes('--port') ? [] : ['--port', '0']
    const child = spawn(process.execPath, [CLI, 'serve', '--json', '--store', store, ...port, ...flags], {
      cwd: folder,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    tally({ processes: 1 })
    let said = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text))
    const ended = once(child, 'exit') as Promise<[number | null]>
    const first = once(child.stdout.setEncoding('utf8'), 'data') as Promise<[string]>
    const line = await Promise.race([first, ended.then(() => undefined)])
    if (!line) throw new Error(`the server did not start: ${said}`)
    const served: Served = {
      ...(JSON.parse(line[0]) as Places),
      child,
      log: () => said,
      async kill() {
        running.delete(served)
        if (child.exitCode !== null || child.signalCode !== null) return
        tally({ kills: 1 })
        child.kill('SIGKILL')
        await ended
      },
      async stop() {
        running.delete(served)
        child.kill('SIGTERM')
        return (await ended)[0]
      },
    }
    running.add(served)
    return served
  }

  async function ibid(...args: string[]): Promise<string> {
    tally({ processes: 1 })
    const { stdout } = await run(process.execPath, [CLI, ...args], {
      cwd: folder,
      env: { ...process.env, IBID_STORE: store },
    })
    return stdout.trim()
  }

  return {
    folder,
    store,
    serve: async (...flags) => await serveWith({}, ...flags),
    serveWith,
    ibid,
    newKey: async (tenant, rights = 'read,write,resolve') =>
      await ibid('keys', 'create', '--tenant', tenant, '--rights', rights),
    write(name, text) {
      writeFileSync(join(folder, name), text)
      return join(folder, name)
    },
  }
}

export interface Reply<T = Record<string, never>> {
  readonly status: number
  readonly headers: Headers
  readonly body: T
}

export type Caller = <T = never>(path: string, body?: unknown) => Promise<Reply<T>>

/** GET without a body, POST with one. */
export function caller(url: string, key?: string): Caller {
  return async (path: string, body?: unknown) => {
    const response = await fetch(`${url}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.includes('json')
    return {
      status: response.status,
      headers: response.headers,
      body: (isJson ? JSON.parse(text) : text) as never,
    }
  }
}
