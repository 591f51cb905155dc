/** A server of the table in a process of its own, on a store, with its gates and its ledger in a folder. */
import { fork, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { ledger } from '../../src/testing/ledger.js'
import { tally } from '../../src/testing/tally.js'

export interface Site {
  readonly port: number
  /** How often the effect with this mark happened. */
  effects(mark: string): number
  /** Resolves when a handler has come to this gate. */
  begun(gate: string): Promise<void>
  open(gate: string): void
  /** While there is a file `outage` or `slow`, the store is cut off, or stuck. */
  put(name: 'outage' | 'slow'): void
  remove(name: 'outage' | 'slow'): void
  close(): Promise<void>
}

export type Framework = 'hono' | 'express' | 'fastify' | 'next' | 'node'

const here = fileURLToPath(new URL('.', import.meta.url))
const root = fileURLToPath(new URL('../..', import.meta.url))

export async function until(condition: () => boolean, what: string, withinMs = 30_000): Promise<void> {
  const stop = Date.now() + withinMs
  while (!condition()) {
    if (Date.now() > stop) throw new Error(`not in ${withinMs} ms: ${what}`)
    await sleep(5)
  }
}

export async function startSite(framework: Framework, url: string, built?: string): Promise<Site> {
  const folder = mkdtempSync(join(tmpdir(), `ibid-site-${framework}-`))
  const site = { folder, url: url === 'sqlite' ? `sqlite:${join(folder, 'ibid.db')}` : url }
  const child = fork(join(here, 'site', `${framework}.mjs`), {
    env: {
      ...process.env,
      IBID_TEST_SITE: JSON.stringify(site),
      IBID_TEST_NEXT: built,
      NODE_ENV: 'production',
    },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  tally({ processes: 1 })
  let said = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (said += text))
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const port = await Promise.race([
    new Promise<number>((resolve) => child.once('message', (port) => resolve(port as number))),
    gone.then(() => Promise.reject(new Error(`the ${framework} site did not start:\n${said}`))),
  ])
  const effects = ledger(join(folder, 'effects.jsonl'))
  return {
    port,
    effects: (mark) => effects.count(mark),
    begun: (gate) =>
      until(() => existsSync(join(folder, `${gate}.begun`)), `a handler at gate ${gate}: ${said}`),
    open: (gate) => writeFileSync(join(folder, `${gate}.open`), ''),
    put: (name) => writeFileSync(join(folder, name), ''),
    remove: (name) => rmSync(join(folder, name)),
    async close() {
      child.kill('SIGTERM')
      // A handler that a test left at its gate keeps the process from ending by itself.
      const timer = setTimeout(() => child.kill('SIGKILL'), 2_000)
      await gone
      clearTimeout(timer)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const PATHS = ['act', 'nowait', 'brief', 'optional', 'derived', 'json', 'repeat', 'idempotency']

/** Next.js serves only what was built: the routes of the site, in a folder with links to what they need. */
export function buildNext(): string {
  const folder = mkdtempSync(join(tmpdir(), 'ibid-next-'))
  mkdirSync(join(folder, 'node_modules'))
  for (const name of ['next', 'react', 'react-dom']) {
    symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name), 'junction')
  }
  symlinkSync(root, join(folder, 'node_modules', 'ibid'), 'junction')
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }')
  writeFileSync(
    join(folder, 'next.config.mjs'),
    "export default { serverExternalPackages: ['ibid'], turbopack: { root: '/' } }\n",
  )
  writeFileSync(join(folder, 'bank.mjs'), readFileSync(join(here, 'site', 'bank.mjs')))
  const route = readFileSync(join(here, 'site', 'next', 'route.mjs'), 'utf8')
  for (const path of PATHS) put(folder, path, route.replaceAll("'PATH'", `'/${path}'`))
  put(folder, 'receipts', readFileSync(join(here, 'site', 'next', 'receipts.mjs'), 'utf8'))
  const site = { folder, url: 'memory:' }
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(root, 'node_modules', 'next', 'dist', 'bin', 'next'), 'build'],
    {
      cwd: folder,
      encoding: 'utf8',
      env: {
        ...process.env,
        NEXT_TELEMETRY_DISABLED: '1',
        NODE_ENV: 'production',
        IBID_TEST_SITE: JSON.stringify(site),
      },
    },
  )
  if (status !== 0) throw new Error(`next build failed:\n${stdout}${stderr}`)
  return folder
}

function put(folder: string, path: string, code: string): void {
  mkdirSync(join(folder, 'app', path), { recursive: true })
  writeFileSync(join(folder, 'app', path, 'route.js'), code)
}
