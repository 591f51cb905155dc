/** The compiled command, run as people run it: a process of its own, in a folder of its own, on a real store. */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { createIbid, type Ibid } from '../../src/index.js'
import { sqliteStore } from '../../src/stores/sqlite/index.js'
import type { Store } from '../../src/store.js'

export const bin = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))

export interface Ran {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
  /** What was printed, read as JSON; the test says of which shape. */
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters
  json<T = Record<string, never>>(): T
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  readonly input?: string
}

/** Nothing of the tester's own settings reaches the command. */
const CLEAN = { IBID_STORE: '', IBID_TENANT: '', NO_COLOR: '', FORCE_COLOR: '' }

export async function ibid(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  return await run(process.execPath, [bin, ...args], options)
}

export async function run(
  program: string,
  args: readonly string[],
  { env, cwd, input }: RunOptions,
): Promise<Ran> {
  const child = spawn(program, args, { cwd, env: { ...process.env, ...CLEAN, ...env }, stdio: 'pipe' })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  // It may end without having read what there is for it.
  child.stdin.on('error', () => undefined)
  child.stdin.end(input ?? '')
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  return { code, stdout, stderr, json: () => JSON.parse(stdout) as never }
}

export function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'ibid-cli-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

export interface Filled {
  readonly url: string
  readonly file: string
  readonly folder: string
}

/** A SQLite store that `fill` has written to; `clock` moves its clock, in milliseconds from now. */
export async function filled(
  fill: (parts: {
    readonly ibid: Ibid
    readonly store: Store
    readonly clock: Float64Array
  }) => Promise<void>,
): Promise<Filled> {
  const home = folder()
  const file = join(home, 'ibid.db')
  const clock = new Float64Array(new SharedArrayBuffer(8))
  const store = sqliteStore(file, { clockOffset: clock })
  const own = createIbid({ store, tenant: 'acme', housekeeping: false })
  await store.check()
  await fill({ ibid: own, store, clock })
  await own.close()
  return { url: `sqlite:${file}`, file, folder: home }
}

export const HOUR_MS = 3_600_000
