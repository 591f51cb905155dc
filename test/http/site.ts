/** A server of the table in a process of its own, on a store, with its gates and its ledger in a folder. */
import { execFile, fork } from 'node:child_process'
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { ledger } from '../../src/testing/ledger.js'
import { tally } from '../../src/testing/tally.js'

export interface Site {
  readonly port: number
  readonly folder: string
  /** How often the effect with this mark happened. */
  effects(mark: string): number
  /** Resolves when a handler has come to this gate. */
  begun(gate: string): Promise<void>
  open(gate: string): void
  /** While there is a file `outage` or `slow`, the store is cut off, or stuck. */
  put(name: 'outage' | 'slow'): void
  remove(name: 'outage' | 'slow'): void
  /** Takes it down without a word. */
  kill(): Promise<void>
  close(): Promise<void>
}

export type Framework = 'hono' | 'express' | 'fastify' | 'next' | 'node'

const here = fileURLToPath(new URL('.', import.meta.url))
const root = fileURLToPath(new URL('../..', import.meta.url))

async function until(condition: () => boolean, what: string, withinMs = 30_000): Promise<void> {
  const stop = Date.now() + withinMs
  while (!condition()) {
    if (Date.now() > stop) throw new Error(`not in ${withinMs} ms: ${what}`)
    await sleep(5)
  }
}

/** `shared`: the folder of another site, to stand beside it on the same store. */
export async function startSite(
  framework: Framework,
  url: string,
  built?: string,
  shared?: string,
): Promise<Site> {
  const folder = shared ?? mkdtempSync(join(tmpdir(), `ibid-site-${framework}-`))
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
    folder,
    effects: (mark) => effects.count(mark),
    begun: (gate) =>
      until(() => existsSync(join(folder, `${gate}.begun`)), `a handler at gate ${gate}: ${said}`),
    open: (gate) => writeFileSync(join(folder, `${gate}.open`), ''),
    put: (name) => writeFileSync(join(folder, name), ''),
    remove: (name) => rmSync(join(folder, name)),
    async kill() {
      child.kill('SIGKILL')
      tally({ kills: 1 })
      await gone
    },
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

/** Next.js serves only what was built: the site's route, in a folder with links to what it needs. */
export async function buildNext(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'ibid-next-'))
  const modules = join(folder, 'node_modules')
  mkdirSync(modules)
  for (const name of ['next', 'react', 'react-dom', 'pg', '@opentelemetry', '@photostructure']) {
    symlinkSync(join(root, 'node_modules', name), join(modules, name), 'junction')
  }
  // A copy, as npm would install it: behind a link Next would take it for a part of the app, and bundle it.
  cpSync(join(root, 'dist'), join(modules, 'ibid', 'dist'), { recursive: true })
  copyFileSync(join(root, 'package.json'), join(modules, 'ibid', 'package.json'))
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }')
  const config = "export default { serverExternalPackages: ['ibid'], turbopack: { root: '/' } }"
  writeFileSync(join(folder, 'next.config.mjs'), config)
  mkdirSync(join(folder, 'app', '[name]'), { recursive: true })
  copyFileSync(join(here, 'site', 'bank.mjs'), join(folder, 'bank.mjs'))
  copyFileSync(join(here, 'site', 'next', 'name', 'route.mjs'), join(folder, 'app', '[name]', 'route.js'))
  const next = join(root, 'node_modules', 'next', 'dist', 'bin', 'next')
  const site = JSON.stringify({ folder, url: 'memory:' })
  const env = {
    ...process.env,
    NEXT_TELEMETRY_DISABLED: '1',
    NODE_ENV: 'production',
    IBID_TEST_SITE: site,
  } as const
  await promisify(execFile)(process.execPath, [next, 'build'], { cwd: folder, env })
  return folder
}
