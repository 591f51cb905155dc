/** A server from npm that nobody wrote for us, behind the gateway: all that it can do still works. */
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { type AddressInfo, createServer } from 'node:net'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { CreateMessageRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { type Bench, bench, codeOf, marksOf } from './bench.js'

const PROGRAM = createRequire(import.meta.url).resolve(
  '@modelcontextprotocol/server-everything/dist/index.js',
)
const SERVER = [process.execPath, PROGRAM, 'stdio'] as const

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

test('[R20] over HTTP: lists are the same, and one key is one effect', async () => {
  const port = await freePort()
  const upstream = at.start([process.execPath, PROGRAM, 'streamableHttp'], { PORT: String(port) })
  const [, said] = [upstream.stdout?.resume(), createInterface({ input: upstream.stderr as Readable })]
  for await (const line of said) if (line.includes(String(port))) break
  const front = at.start(at.frontOf(`http://127.0.0.1:${port}/mcp`, ['--no-annotations']))
  const [line] = (await once(createInterface({ input: front.stderr as Readable }), 'line')) as [string]
  const { url } = JSON.parse(line) as { url: string }
  const [bare, guarded] = [`http://127.0.0.1:${port}`, url].map(async (base) => {
    const client = new Client({ name: 'test', version: '1.0.0' })
    await client.connect(new StreamableHTTPClientTransport(new URL(`${base}/mcp`)))
    clients.push(client)
    return client
  })
  const client = await (guarded as Promise<Client>)
  expect(await client.listTools()).toEqual(await (await (bare as Promise<Client>)).listTools())
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
