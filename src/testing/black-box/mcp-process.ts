/** An MCP server as a process that is spoken to over stdio: one JSON message a line, and no SDK. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { IbidError } from '../../core/errors.js'
import { tally } from '../tally.js'

export interface Reply {
  readonly result?: Readonly<Record<string, unknown>>
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown }
}

export interface McpProcess {
  /** Undefined: the server ended before it answered. */
  ask(method: string, params: object, onSent?: (id: number) => void): Promise<Reply | undefined>
  tell(method: string, params: object): void
  kill(): Promise<void>
  end(): Promise<void>
}

const CLIENT = {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'ibid hammer', version: '1' },
}
const METHOD_NOT_FOUND = -32_601

export async function startMcp([program, ...args]: readonly string[]): Promise<McpProcess> {
  const child = spawn(program as string, args, { stdio: ['pipe', 'pipe', 'pipe'] })
  tally({ processes: 1 })
  const waiting = new Map<number, (reply: Reply | undefined) => void>()
  let asked = 0
  let complaints = ''
  child.stderr
    .setEncoding('utf8')
    .on('data', (text: string) => (complaints = (complaints + text).slice(-1_000)))
  // It may end while it is written to; its end is told below.
  child.stdin.on('error', () => undefined)
  const ended = new Promise<void>((resolve) => {
    child.once('error', (error) => {
      complaints += error.message
      resolve()
    })
    child.once('exit', () => resolve())
  })
  void ended.then(() => {
    for (const settle of waiting.values()) settle(undefined)
    return waiting.clear()
  })
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message = messageOf(line)
    if (message === undefined) return
    if (message.method !== undefined) return answerServer(message)
    waiting.get(message.id as number)?.(message)
    waiting.delete(message.id as number)
  })

  function send(message: object): void {
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  }

  /** A server may ask its client, too: that it is there, or for what this client does not do. */
  function answerServer({ id, method }: Message): void {
    if (id === undefined) return
    const error = { code: METHOD_NOT_FOUND, message: `this client does not do ${method}` }
    send(method === 'ping' ? { id, result: {} } : { id, error })
  }

  async function ask(
    method: string,
    params: object,
    onSent?: (id: number) => void,
  ): Promise<Reply | undefined> {
    if (child.exitCode !== null || child.signalCode !== null) return undefined
    const id = ++asked
    const reply = new Promise<Reply | undefined>((resolve) => waiting.set(id, resolve))
    send({ id, method, params })
    onSent?.(id)
    return await reply
  }

  const hello = await ask('initialize', CLIENT)
  if (hello?.result === undefined) {
    child.kill('SIGKILL')
    throw new IbidError(
      `the MCP server did not start: ${hello?.error?.message ?? (complaints.trim() || 'it ended')}`,
      {
        code: 'TARGET_GONE',
        retriable: false,
        action: 'give the command that starts it over stdio after --',
      },
    )
  }
  send({ method: 'notifications/initialized' })
  return {
    ask,
    tell: (method, params) => send({ method, params }),
    async kill() {
      tally({ kills: 1 })
      child.kill('SIGKILL')
      await ended
    },
    async end() {
      child.stdin.end()
      const timer = setTimeout(() => child.kill('SIGKILL'), 5_000)
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
      clearTimeout(timer)
    },
  }
}

type Message = Reply & { readonly id?: unknown; readonly method?: string }

/** Some servers print to their standard output what belongs on stderr. */
function messageOf(line: string): Message | undefined {
  try {
    const message = JSON.parse(line) as Message | null
    return typeof message === 'object' && message !== null ? message : undefined
  } catch {
    return undefined
  }
}
