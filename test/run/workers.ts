/** Worker processes of a test, on one store and one ledger, in a folder that goes when the test ends. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'
import { type Ledger, ledger } from '../../src/testing/index.js'
import { type Child, startChild } from '../../src/testing/process/start.js'

export interface Told {
  readonly value?: unknown
  readonly runId?: string
  readonly joined?: boolean
  readonly replayed?: boolean
  readonly code?: string
  readonly retryAfterMs?: number
}

export interface Workers {
  readonly effects: () => Ledger
  start(count: number, options?: object): Promise<Child[]>
}

const SCRIPT = new URL('../fixtures/run-worker.mjs', import.meta.url)

/** `url`: of a store that all tests share; without it, each test has a SQLite file. */
export function workers(url?: () => string): Workers {
  let directory: string
  let children: Child[]
  let effects: Ledger
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'ibid-run-'))
    children = []
    effects = ledger(join(directory, 'effects.jsonl'))
  })
  afterEach(async () => {
    await Promise.all(children.map((child) => child.end()))
    await rm(directory, { recursive: true, force: true })
  })
  return {
    effects: () => effects,
    async start(count, options = {}) {
      const started = Array.from({ length: count }, () => startChild(SCRIPT))
      children.push(...started)
      const order = { url: url?.() ?? `sqlite:${join(directory, 'ibid.db')}`, directory, ...options }
      await Promise.all(started.map((child) => child.call('open', order)))
      return started
    },
  }
}
