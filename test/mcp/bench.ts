/**
 * What the tests of MCP work on: a bank that writes a ledger, a gateway before it, real clients of both
 * generations.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Client as Client2, StreamableHTTPClientTransport as Http2 } from '@modelcontextprotocol/client'
import { StdioClientTransport as Stdio2 } from '@modelcontextprotocol/client/stdio'
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as Stdio1 } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport as Http1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { createIbid, type Ibid } from '../../src/index.js'
import { type Ledger, ledger } from '../../src/testing/index.js'
import { tally } from '../../src/testing/tally.js'
import { sqliteStore } from '../../dist/stores/sqlite/index.js'

/** `1` and `2`: the generations of the SDK. `modern`: the second, on the revision of 2026-07-28. */
export type Generation = '1' | '2' | 'modern'
export type Way = 'stdio' | 'http'

/** What the tests need of a client; both generations have it. */
export interface AnyClient {
  callTool(
    params: { name: string; arguments?: Record<string, unknown>; _meta?: Record<string, unknown> },
    ...more: unknown[]
  ): Promise<unknown>
  listTools(): Promise<{ tools: unknown[] }>
  listResources(): Promise<unknown>
  readResource(params: { uri: string }): Promise<unknown>
  close(): Promise<void>
}

export interface Answer {
  readonly content: readonly { readonly type: string; readonly text: string }[]
  readonly structuredContent?: unknown
  readonly isError?: boolean
  readonly _meta: { readonly [name: string]: unknown }
}

export interface Bench {
  readonly folder: string
  readonly effects: Ledger
  /** An engine on the gateway's store. */
  readonly ibid: Ibid
  /**
   * A client that is connected through a gateway of its own to a server of its own (stdio), or through the one
   * gateway.
   */
  connect(generation: Generation, way: Way, options?: readonly string[]): Promise<AnyClient>
  /** Connected without a gateway. */
  connectBare(generation: Generation, command: readonly string[]): Promise<AnyClient>
  /** The command of a gateway over stdio, before the bank or another server. */
  gateway(options: readonly string[], server: readonly string[]): readonly string[]
  bank(generation: Generation, way: Way): readonly string[]
  /** Contracts of the bank, in a file, as options of a gateway. */
  contracts(more: object): readonly string[]
  /** The command of a gateway over HTTP. */
  frontOf(upstream: string, options: readonly string[]): readonly string[]
  start(command: readonly string[], env?: Record<string, string>): ChildProcess
  /** Where the gateway over HTTP listens. */
  httpUrl(generation: Generation, options: readonly string[]): Promise<URL>
  /** Lets what hangs go on. */
  go(): void
  waitFor(key: string, count?: number): Promise<void>
  close(): Promise<void>
}

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))
const BANK = fileURLToPath(new URL('../fixtures/mcp-server.mjs', import.meta.url))

export function bench(): Bench {
  const folder = mkdtempSync(join(tmpdir(), 'ibid-mcp-'))
  const effects = ledger(join(folder, 'effects.jsonl'))
  const ibid = createIbid({
    store: sqliteStore(join(folder, 'ibid.db')),
    tenant: 'local',
    housekeeping: false,
    cache: false,
  })
  const started: ChildProcess[] = []
  const clients: AnyClient[] = []

  function start([program = '', ...args]: readonly string[], env: Record<string, string> = {}): ChildProcess {
    const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'], env: { ...process.env, ...env } })
    tally({ processes: 1 })
    started.push(child)
    return child
  }

  const bank = (generation: Generation, way: Way): readonly string[] => [
    process.execPath,
    BANK,
    generation === '1' ? '1' : '2',
    way,
    folder,
  ]

  const common = (options: readonly string[]): readonly string[] => [
    process.execPath,
    MAIN,
    'mcp',
    '--store',
    `sqlite:${join(folder, 'ibid.db')}`,
    '--name',
    'bank',
    ...options,
  ]

  const gateway: Bench['gateway'] = (options, server) => [...common(options), '--', ...server]

  const frontOf: Bench['frontOf'] = (upstream, options) => [
    ...common(options),
    '--url',
    upstream,
    '--port',
    '0',
    '--json',
  ]

  const urls = new Map<string, Promise<URL>>()

  /** One bank and one gateway for all clients that want the same. */
  function httpUrl(generation: Generation, options: readonly string[]): Promise<URL> {
    const key = JSON.stringify([generation === '1', options])
    const known = urls.get(key) ?? openHttp(generation, options)
    urls.set(key, known)
    return known
  }

  async function openHttp(generation: Generation, options: readonly string[]): Promise<URL> {
    const { port } = (await firstLine(start(bank(generation, 'http')), 'stdout')) as { port: number }
    const upstream = `http://127.0.0.1:${port}/mcp`
    const front = start(frontOf(upstream, options))
    const { url } = (await firstLine(front, 'stderr')) as { url: string }
    return new URL(`${url}/mcp`)
  }

  function kept(client: AnyClient): AnyClient {
    clients.push(client)
    return client
  }

  return {
    folder,
    effects,
    ibid,
    bank,
    contracts(more) {
      const file = join(folder, 'contracts.json')
      writeFileSync(file, JSON.stringify([{ name: 'pay', effect: 'write-non-idempotent', ...more }]))
      return ['--contracts', file]
    },
    gateway,
    frontOf,
    start,
    httpUrl,
    connect: async (generation, way, options = []) =>
      kept(
        way === 'stdio'
          ? await overStdio(generation, gateway(options, bank(generation, 'stdio')))
          : await overHttp(generation, await httpUrl(generation, options)),
      ),
    connectBare: async (generation, command) => kept(await overStdio(generation, command)),
    go: () => writeFileSync(join(folder, 'go'), ''),
    async waitFor(key, count = 1) {
      while (effects.count(key) < count) await sleep(10)
    },
    async close() {
      writeFileSync(join(folder, 'go'), '')
      await Promise.all(clients.map(async (client) => await client.close().catch(() => undefined)))
      for (const child of started) child.kill('SIGKILL')
      await Promise.all(
        started.map(async (child) => child.exitCode ?? child.signalCode ?? (await once(child, 'exit'))),
      )
      await ibid.close()
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

async function overStdio(
  generation: Generation,
  [command = '', ...args]: readonly string[],
): Promise<AnyClient> {
  tally({ processes: 2 })
  if (generation === '1') {
    const client = new Client1({ name: 'test', version: '1.0.0' })
    await client.connect(new Stdio1({ command, args, stderr: 'inherit' }))
    return client
  }
  const client = client2(generation)
  await client.connect(new Stdio2({ command, args, stderr: 'inherit' }))
  return client
}

async function overHttp(generation: Generation, url: URL): Promise<AnyClient> {
  if (generation === '1') {
    const client = new Client1({ name: 'test', version: '1.0.0' })
    await client.connect(new Http1(url))
    return client
  }
  const client = client2(generation)
  await client.connect(new Http2(url))
  return client
}

function client2(generation: Generation): Client2 {
  const mode = generation === 'modern' ? { pin: '2026-07-28' } : ('legacy' as const)
  const client = new Client2(
    { name: 'test', version: '1.0.0' },
    {
      versionNegotiation: { mode },
      capabilities: { elicitation: { form: {} } },
    },
  )
  if (generation === 'modern') {
    client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { ok: true } }))
  }
  return client
}

async function firstLine(child: ChildProcess, stream: 'stdout' | 'stderr'): Promise<unknown> {
  const reader = createInterface({ input: child[stream] as NodeJS.ReadableStream })
  const [line] = (await once(reader, 'line')) as [string]
  return JSON.parse(line) as unknown
}

/** What the mark in `_meta` says. */
export function marksOf(answer: unknown): {
  replay: boolean
  key: string
  first_completed_at: string | null
} {
  const { _meta: meta } = answer as Answer
  return meta['ibid/idempotency'] as never
}

/** The code of a problem, as the model reads it. */
export function codeOf(answer: unknown): string {
  const { isError, content } = answer as Answer
  if (!isError) return 'none'
  return (JSON.parse(content[0]?.text ?? '{}') as { error?: { code: string } }).error?.code ?? 'none'
}
