/**
 * The gateway over stdio: starts the MCP server as a child and stands between it and the client. When the client
 * goes, what was sent is seen through and written down before the server is let go; when the server goes, what
 * was sent is held.
 */
import { onlyKnown } from '../../core/known.js'
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { createGuard, GUARD_OPTIONS, type GuardOptions } from './guard.js'
import { linesOf, writeLine } from './lines.js'
import { parse } from './message.js'
import { createRelay } from './relay.js'

export interface StdioGatewayOptions extends GuardOptions {
  /** The MCP server and its arguments. */
  readonly command: readonly [string, ...string[]]
  readonly env?: NodeJS.ProcessEnv
  /** On whose behalf calls without a key are made. Default: everybody who uses this store is one. */
  readonly principal?: string
  readonly input?: Readable
  readonly output?: Writable
  /** Ends it as the end of the input does. */
  readonly signal?: AbortSignal
}

const KNOWN = [
  'command',
  'env',
  'principal',
  'input',
  'output',
  'signal',
] satisfies (keyof StdioGatewayOptions)[]

type Upstream = ChildProcessByStdio<Writable, Readable, null>

/** Together less than clients wait for the gateway itself. */
const GOODBYE_MS = 500

/** Resolves with the exit code that fits: 0 where the client left, the server's own where that left first. */
export async function stdioGateway(options: StdioGatewayOptions): Promise<number> {
  onlyKnown(options, [...GUARD_OPTIONS, ...KNOWN], 'stdioGateway')
  const { command, input = process.stdin, output = process.stdout, principal = 'local' } = options
  const guard = createGuard(options)
  const [program, ...args] = command
  const child: Upstream = spawn(program, args, {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: options.env ?? process.env,
  })
  // What goes wrong with a pipe shows in the end of the process.
  child.stdin.on('error', () => undefined)
  // Nobody else's business either: a program that exits when its reader is gone would leave a write behind.
  output.removeAllListeners('error').on('error', () => undefined)
  const ended = endOf(child)
  const relay = createRelay<string>(guard, {
    toClient: (message) => void writeLine(output, JSON.stringify(message)),
    toUpstream: (message) => void writeLine(child.stdin, JSON.stringify(message)),
    pass: (_, line) => void writeLine(child.stdin, line),
  })

  async function fromClient(): Promise<void> {
    for await (const line of linesOf(input)) {
      if (!relay.takesFromClient(parse(line), line, principal)) await writeLine(child.stdin, line)
    }
  }

  async function fromUpstream(): Promise<void> {
    for await (const line of linesOf(child.stdout)) {
      if (!relay.takesFromUpstream(parse(line))) await writeLine(output, line)
    }
  }

  const upstreamDone = Promise.all([fromUpstream().catch(() => undefined), ended]).then(([, code]) => code)
  const clientDone = Promise.race([fromClient().catch(() => undefined), abortOf(options.signal)])
  const first = await Promise.race([upstreamDone, clientDone.then(() => 'client' as const)])
  if (first === 'client') {
    await Promise.race([relay.idle(), upstreamDone])
    child.stdin.end()
    await letGo(child, ended)
  }
  relay.upstreamGone(new TypeError('the MCP server ended before it answered'))
  await relay.idle()
  input.destroy()
  return first === 'client' ? 0 : first
}

async function letGo(child: Upstream, ended: Promise<number>): Promise<void> {
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    const inTime = await Promise.race([ended.then(() => true), sleep(GOODBYE_MS, false, { ref: false })])
    if (inTime) return
    child.kill(signal)
  }
  await ended
}

async function endOf(child: Upstream): Promise<number> {
  try {
    const [code] = (await once(child, 'exit')) as [number | null]
    return code ?? 1
  } catch {
    return 127
  }
}

async function abortOf(signal: AbortSignal | undefined): Promise<void> {
  if (signal?.aborted) return
  await (signal ? once(signal, 'abort') : new Promise(() => {}))
}
