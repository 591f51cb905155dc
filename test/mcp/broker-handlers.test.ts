/** A broker's tools over MCP, with the server and the client of both generations. */
import { Client as Client2, InMemoryTransport as InMemory2 } from '@modelcontextprotocol/client'
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js'
import { InMemoryTransport as InMemory1 } from '@modelcontextprotocol/sdk/inMemory.js'
import { Server as Server1 } from '@modelcontextprotocol/sdk/server/index.js'
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { Server as Server2 } from '@modelcontextprotocol/server'
import { beforeEach, describe, expect, test } from 'vitest'
import { brokerHandlers } from '../../src/adapters/mcp.js'
import { createBroker, defineTool } from '../../src/guards/broker/index.js'
import { createIbid } from '../../src/index.js'
import { memoryStore } from '../../src/stores/memory/index.js'
import { type Answer, marksOf } from './bench.js'

let effects: string[]
beforeEach(() => {
  effects = []
})

function handlers() {
  const refund = defineTool<{ id: string }>({
    name: 'refund',
    version: '1.0.0',
    effect: 'write-non-idempotent',
    description: 'Refunds a payment.',
    input: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
    execute: ({ id }) => ({ refunded: id, number: effects.push(id) }),
  })
  const ibid = createIbid({ store: memoryStore(), housekeeping: false })
  return brokerHandlers(createBroker({ ibid, tenant: 'acme', tools: [refund] }))
}

async function connect1() {
  const { listTools, callTool } = handlers()
  const server = new Server1({ name: 'bank', version: '1.0.0' }, { capabilities: { tools: {} } })
  server.setRequestHandler(ListToolsRequestSchema, listTools)
  server.setRequestHandler(CallToolRequestSchema, callTool)
  const [ours, theirs] = InMemory1.createLinkedPair()
  await server.connect(theirs)
  const client = new Client1({ name: 'test', version: '1.0.0' })
  await client.connect(ours)
  return client
}

async function connect2() {
  const { listTools, callTool } = handlers()
  const server = new Server2({ name: 'bank', version: '1.0.0' }, { capabilities: { tools: {} } })
  server.setRequestHandler('tools/list', listTools)
  server.setRequestHandler('tools/call', callTool)
  const [ours, theirs] = InMemory2.createLinkedPair()
  await server.connect(theirs)
  const client = new Client2({ name: 'test', version: '1.0.0' })
  await client.connect(ours)
  return client
}

describe.each([
  ['1', connect1],
  ['2', connect2],
])('a broker’s tools over MCP, SDK %s', (_generation, connect) => {
  test('are listed with what their contracts say', async () => {
    const { tools } = await (await connect()).listTools()
    expect(tools).toMatchObject([
      {
        name: 'refund',
        description: 'Refunds a payment.',
        inputSchema: { type: 'object', required: ['id'] },
        annotations: { readOnlyHint: false, idempotentHint: false },
      },
    ])
  })

  test('[R37] are called once for one key, and the observation is the same', async () => {
    const client = await connect()
    const call = { name: 'refund', arguments: { id: 'p1' }, _meta: { 'ibid/idempotencyKey': 'k1' } }
    const [first, again] = [(await client.callTool(call)) as Answer, (await client.callTool(call)) as Answer]
    expect(again.content).toEqual(first.content)
    expect(first.structuredContent).toEqual({ ok: true, data: { refunded: 'p1', number: 1 } })
    expect([marksOf(first).replay, marksOf(again).replay]).toEqual([false, true])
    expect(effects).toEqual(['p1'])
  })

  test('refuse arguments and keys that cannot be ones', async () => {
    const client = await connect()
    const wrong = (await client.callTool({ name: 'refund', arguments: { id: 7 } })) as Answer
    expect(wrong).toMatchObject({
      isError: true,
      structuredContent: { error: { code: 'INVALID_ARGUMENTS' } },
    })
    const call = { name: 'refund', arguments: { id: 'p1' }, _meta: { 'ibid/idempotencyKey': 7 } }
    await expect(client.callTool(call)).rejects.toMatchObject({ code: -32_602 })
    expect(effects).toEqual([])
  })
})
