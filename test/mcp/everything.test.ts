/** A server from npm that nobody wrote for us, behind the gateway: all that it can do still works. */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { CreateMessageRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { tally } from '../../src/testing/tally.js'
import { type Bench, bench, codeOf, marksOf } from './bench.js'

const PROGRAM = createRequire(import.meta.url).resolve(
  '@modelcontextprotocol/server-everything/dist/index.js',
)
const SERVER = [process.execPath, PROGRAM, 'stdio'] as const
const CLIENT = fileURLToPath(new URL('../fixtures/mcp-client.mjs', import.meta.url))

let at: Bench
let clients: Client[]
beforeEach(() => {
  at = bench()
  clients = []
})
afterEach(async () => {
  await Promise.all(clients.map(async (client) => await client.close()))
  await at.close()
})

async function connect([command = '', ...args]: readonly string[]): Promise<Client> {
  const client = new Client(
    { name: 'test', version: '1.0.0' },
    { capabilities: { sampling: {}, elicitation: {} } },
  )
  client.setRequestHandler(CreateMessageRequestSchema, () => ({
    model: 'none',
    role: 'assistant',
    content: { type: 'text', text: 'a poem' },
  }))
  await client.connect(new StdioClientTransport({ command, args, stderr: 'ignore' }))
  clients.push(client)
  return client
}

test('lists of tools, prompts and resources are the same to the last character', async () => {
  const [bare, guarded] = [await connect(SERVER), await connect(at.gateway([], SERVER))]
  for (const list of ['listTools', 'listPrompts', 'listResources', 'listResourceTemplates'] as const) {
    expect(JSON.stringify(await guarded[list]())).toBe(JSON.stringify(await bare[list]()))
  }
  expect(guarded.getServerCapabilities()).toEqual(bare.getServerCapabilities())
  expect(guarded.getServerVersion()).toEqual(bare.getServerVersion())
})

test('a tool that calls the client back, one with progress, and one that only answers', async () => {
  const client = await connect(at.gateway([], SERVER))
  const sampled = await client.callTool({
    name: 'trigger-sampling-request',
    arguments: { prompt: 'write a poem', maxTokens: 10 },
  })
  expect(JSON.stringify(sampled['content'])).toContain('a poem')
  const seen: unknown[] = []
  const call = { name: 'trigger-long-running-operation', arguments: { duration: 0.2, steps: 2 } }
  await client.callTool(call, undefined, { onprogress: (progress) => void seen.push(progress) })
  expect(seen.length).toBeGreaterThan(0)
})

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** The server over HTTP, and the gateway before it. */
async function openHttp() {
  const port = await freePort()
  const upstream = at.start([process.execPath, PROGRAM, 'streamableHttp'], { PORT: String(port) })
  const [, said] = [upstream.stdout?.resume(), createInterface({ input: upstream.stderr as Readable })]
  for await (const line of said) if (line.includes(String(port))) break
  const front = at.start(at.frontOf(`http://127.0.0.1:${port}/mcp`, ['--no-annotations']))
  const [line] = (await once(createInterface({ input: front.stderr as Readable }), 'line')) as [string]
  const { url } = JSON.parse(line) as { url: string }
  return { bareUrl: `http://127.0.0.1:${port}`, url, upstream }
}

async function connectHttp(base: string): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' })
  await client.connect(new StreamableHTTPClientTransport(new URL(`${base}/mcp`)))
  clients.push(client)
  return client
}

test('[R20] over HTTP: lists are the same, and one key is one effect', async () => {
  const { bareUrl, url } = await openHttp()
  const [bare, client] = [await connectHttp(bareUrl), await connectHttp(url)]
  expect(await client.listTools()).toEqual(await bare.listTools())
  const call = { name: 'get-sum', arguments: { a: 1, b: 2 }, _meta: { 'ibid/idempotencyKey': 'k' } }
  const [first, again] = [await client.callTool(call), await client.callTool(call)]
  expect(again['content']).toEqual(first['content'])
  expect([marksOf(first).replay, marksOf(again).replay]).toEqual([false, true])
})

test('[R21] the same call twice asks; with a key it is given again', async () => {
  const client = await connect(at.gateway(['--no-annotations'], SERVER))
  const echo = async (meta?: Record<string, unknown>) =>
    await client.callTool({ name: 'echo', arguments: { message: 'hello' }, ...(meta && { _meta: meta }) })
  expect([codeOf(await echo()), codeOf(await echo())]).toEqual(['none', 'NEEDS_HUMAN'])
  const [first, again] = [
    await echo({ 'ibid/idempotencyKey': 'k' }),
    await echo({ 'ibid/idempotencyKey': 'k' }),
  ]
  expect(again['content']).toEqual(first['content'])
  expect([marksOf(first).replay, marksOf(again).replay]).toEqual([false, true])
})

/** An operation of this server that reports its progress ten times a second. */
const long = (seconds: number) => ({
  name: 'trigger-long-running-operation',
  arguments: { duration: seconds, steps: seconds * 10 },
  _meta: { 'ibid/idempotencyKey': 'k1' },
})

const states = async (): Promise<string[]> => (await at.ibid.list()).receipts.map(({ state }) => state)

/** A server that leaves its process id in a file, so that it can be killed behind the gateway. */
function traceable(): { readonly command: readonly string[]; pid(): number } {
  const file = join(at.folder, 'server.pid')
  const note = `import{writeFileSync}from"node:fs";writeFileSync(${JSON.stringify(file)},String(process.pid))`
  const loader = `data:text/javascript,${encodeURIComponent(note)}`
  return {
    command: [process.execPath, '--import', loader, PROGRAM, 'stdio'],
    pid: () => Number(readFileSync(file, 'utf8')),
  }
}

describe.each(['stdio', 'http'] as const)('over %s, in the middle of a long operation', (way) => {
  test('[R61] its client is killed: it is seen through, and the next client gets its result', async () => {
    const http = way === 'http' ? await openHttp() : undefined
    const command = at.gateway(['--no-annotations'], SERVER)
    const target = http ? { url: `${http.url}/mcp` } : { command }
    const doomed = at.start([process.execPath, CLIENT, JSON.stringify({ ...target, call: long(2) })])
    await once(createInterface({ input: doomed.stdout as Readable }), 'line')
    expect(await states()).toEqual(['pending'])
    doomed.kill('SIGKILL')
    tally({ kills: 1 })
    await once(doomed, 'exit')
    await expect.poll(states, { timeout: 30_000 }).toEqual(['succeeded'])
    const client = http ? await connectHttp(http.url) : await connect(command)
    const again = await client.callTool(long(2))
    expect(marksOf(again).replay).toBe(true)
    expect(JSON.stringify(again['content'])).toContain('completed')
  })

  test('[R34] [R61] its server is killed: outcome unknown, held, and not sent again', async () => {
    const http = way === 'http' ? await openHttp() : undefined
    const { command, pid } = traceable()
    const client = http
      ? await connectHttp(http.url)
      : await connect(at.gateway(['--no-annotations'], command))
    const kill = onlyOnce(() => (http ? http.upstream.kill('SIGKILL') : process.kill(pid(), 'SIGKILL')))
    const killed = await client.callTool(long(600), undefined, { onprogress: kill })
    tally({ kills: 1 })
    expect(codeOf(killed)).toBe('OUTCOME_UNKNOWN')
    expect(await states()).toEqual(['unknown'])
    // It would take ten minutes if it was sent.
    const next = http
      ? await connectHttp((await openHttp()).url)
      : await connect(at.gateway(['--no-annotations'], SERVER))
    expect(codeOf(await next.callTool(long(600)))).toBe('OUTCOME_UNKNOWN')
    expect(await states()).toEqual(['unknown'])
  })
})

/** Progress is reported until the connection is gone; killing once will do. */
function onlyOnce(act: () => unknown): () => void {
  let isDone = false
  return () => {
    if (isDone) return
    isDone = true
    act()
  }
}
