/** A server from npm that nobody wrote for us, behind the gateway: all that it can do still works. */
import { createRequire } from 'node:module'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { CreateMessageRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { type Bench, bench, codeOf, marksOf } from './bench.js'

const SERVER = [
  process.execPath,
  createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js'),
  'stdio',
] as const

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
