/** One's own MCP server behind `guardTransport` or `httpGateway`, with both generations of the SDK. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  Client as Client2,
  InMemoryTransport as InMemory2,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client'
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js'
import { InMemoryTransport as InMemory1 } from '@modelcontextprotocol/sdk/inMemory.js'
import { McpServer as McpServer1 } from '@modelcontextprotocol/sdk/server/mcp.js'
import { createMcpHandler, McpServer as McpServer2 } from '@modelcontextprotocol/server'
import { beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { guardTransport, httpGateway, type McpContract } from '../../src/adapters/mcp.js'
import { createIbid, type Ibid } from '../../src/index.js'
import { memoryStore } from '../../src/stores/memory/index.js'
import { type Answer, codeOf, marksOf } from './bench.js'

let ibid: Ibid
let effects: string[]
let finish: (() => void) | undefined
let contracts: readonly McpContract[]
beforeEach(() => {
  ibid = createIbid({ store: memoryStore(), tenant: 'acme', housekeeping: false })
  effects = []
  finish = undefined
  contracts = []
})

const options = () => ({ ibid, tenant: 'acme', server: 'bank', contracts })

interface Given {
  readonly id: string
  readonly wait?: boolean | undefined
  readonly fail?: string | undefined
}

const FAILED = { content: [{ type: 'text' as const, text: 'it failed' }], isError: true }

/** Waits where it is told to, until the test says so; notes when it is told to stop. */
async function refund({ id, wait, fail }: Given, signal: AbortSignal) {
  if (fail === 'before' && effects.push(`failed ${id}`) === 1) return FAILED
  effects.push(`refund ${id}`)
  if (fail === 'after') return FAILED
  let isDone = false
  signal.addEventListener('abort', () => isDone || effects.push(`aborted ${id}`))
  if (wait) await new Promise<void>((resolve) => (finish = resolve))
  isDone = true
  return { content: [{ type: 'text' as const, text: `refunded ${id} (${effects.length})` }] }
}

/** What the server itself knows of a refund. */
function look({ id }: { readonly id: string }) {
  const text = JSON.stringify({ refunds: effects.filter((effect) => effect === `refund ${id}`) })
  return { content: [{ type: 'text' as const, text }] }
}

const shape = { id: z.string(), wait: z.boolean().optional(), fail: z.string().optional() }
const known = { id: z.string() }

const call = (id: string, key?: string, wait?: boolean) => ({
  name: 'refund',
  arguments: { id, ...(wait && { wait }) },
  ...(key !== undefined && { _meta: { 'ibid/idempotencyKey': key } }),
})

const failing = (fail: string, key: string) => ({
  name: 'refund',
  arguments: { id: 'r4', fail },
  _meta: { 'ibid/idempotencyKey': key },
})

function gate(): { readonly passed: Promise<void>; open(): void } {
  let open: (() => void) | undefined
  const passed = new Promise<void>((resolve) => (open = resolve))
  return { passed, open: () => open?.() }
}

async function keyOfOnly(): Promise<string> {
  for (;;) {
    const [receipt] = (await ibid.list()).receipts
    if (receipt) return receipt.key
  }
}

async function started(): Promise<() => void> {
  for (;;) {
    if (finish) return finish
    await nextTurn()
  }
}

async function connect1() {
  const server = new McpServer1({ name: 'bank', version: '1.0.0' })
  server.registerTool(
    'refund',
    { inputSchema: shape },
    async (args, extra) => await refund(args, extra.signal),
  )
  server.registerTool('look', { inputSchema: known }, look)
  const [ours, theirs] = InMemory1.createLinkedPair()
  await server.connect(guardTransport(theirs, options()))
  const client = new Client1({ name: 'test', version: '1.0.0' })
  await client.connect(ours)
  return client
}

function server2(): McpServer2 {
  const server = new McpServer2({ name: 'bank', version: '1.0.0' })
  server.registerTool('refund', { inputSchema: z.object(shape) }, async (args, context) =>
    refund(args, context.mcpReq.signal),
  )
  server.registerTool('look', { inputSchema: z.object(known) }, look)
  return server
}

async function connect2() {
  const [ours, theirs] = InMemory2.createLinkedPair()
  await server2().connect(guardTransport(theirs as never, options()))
  const client = new Client2({ name: 'test', version: '1.0.0' })
  await client.connect(ours)
  return client
}

async function connectHttp() {
  const handler = createMcpHandler(server2)
  const gateway = httpGateway({ ...options(), upstream: async (request) => await handler.fetch(request) })
  const client = new Client2(
    { name: 'test', version: '1.0.0' },
    { versionNegotiation: { mode: { pin: '2026-07-28' } } },
  )
  const fetch = async (url: string | URL, init?: RequestInit): Promise<Response> =>
    await gateway(new Request(url, init))
  await client.connect(new StreamableHTTPClientTransport(new URL('http://bank.test/mcp'), { fetch }))
  return client
}

describe.each([
  ['transport, SDK 1', connect1],
  ['transport, SDK 2', connect2],
  ['handler, SDK 2', connectHttp],
])('one’s own server behind a guarded %s', (_what, connect) => {
  test('does a call once, and marks its replay', async () => {
    const client = await connect()
    const first = (await client.callTool(call('r1', 'k1'))) as Answer
    const again = (await client.callTool(call('r1', 'k1'))) as Answer
    expect(again.content).toEqual(first.content)
    expect([marksOf(first).replay, marksOf(again).replay]).toEqual([false, true])
    expect(codeOf(await client.callTool(call('r2')))).toBe('none')
    expect(codeOf(await client.callTool(call('r2')))).toBe('NEEDS_HUMAN')
    expect(effects).toEqual(['refund r1', 'refund r2'])
  })

  test('sees a call through when its client is gone', async () => {
    const client = await connect()
    const left = client.callTool(call('r3', 'k3', true)).catch(() => 'left')
    const go = await started()
    await client.close()
    await left
    expect(effects).toEqual(['refund r3'])
    go()
    const again = (await (await connect()).callTool(call('r3', 'k3', true))) as Answer
    expect(again.content[0]?.text).toBe('refunded r3 (1)')
    expect(marksOf(again).replay).toBe(true)
    expect(effects).toEqual(['refund r3'])
  })
  test('a call that is taken back while its claim is on its way is not sent, and its key is good', async () => {
    const store = memoryStore()
    const [asked, answer] = [gate(), gate()]
    ibid = createIbid({
      store: {
        ...store,
        async claim(wanted) {
          asked.open()
          await answer.passed
          return await store.claim(wanted)
        },
      },
      tenant: 'acme',
      housekeeping: false,
    })
    const client = await connect()
    const caller = new AbortController()
    const options = { signal: caller.signal }
    const called =
      client instanceof Client1
        ? client.callTool(call('r5', 'k5'), undefined, options)
        : client.callTool(call('r5', 'k5'), options)
    await asked.passed
    caller.abort(new Error('changed my mind'))
    await expect(called).rejects.toBeInstanceOf(Error)
    // Whatever was sent before this has arrived.
    await client.listTools()
    answer.open()
    const receipt = { scope: 'tool:bank/refund', key: await keyOfOnly() }
    await expect.poll(async () => (await ibid.get(receipt))?.state).toBe('released')
    expect(effects).toEqual([])
    expect(codeOf(await client.callTool(call('r5', 'k5')))).toBe('none')
    expect(effects).toEqual(['refund r5'])
  })

  test('[R9] a result that says it failed, with onError unknown: held, and not run again', async () => {
    contracts = [{ ...REFUND, onError: 'unknown' }]
    const client = await connect()
    for (let n = 0; n < 2; n++)
      expect(codeOf(await client.callTool(failing('after', 'k4')))).toBe('OUTCOME_UNKNOWN')
    expect(effects).toEqual(['refund r4'])
  })

  test('[R9] a result that says it failed, with onError not-executed: the same call may run again', async () => {
    contracts = [{ ...REFUND, onError: 'not-executed' }]
    const client = await connect()
    expect(await client.callTool(failing('before', 'k4'))).toMatchObject(FAILED)
    const done = (await client.callTool(failing('before', 'k4'))) as Answer
    expect([done.isError ?? false, marksOf(done).replay]).toEqual([false, false])
    expect(effects.filter((effect) => effect === 'refund r4')).toHaveLength(1)
  })

  test('[R34] a result that says nothing, and a check: the server is asked by a tool of its own', async () => {
    contracts = [{ ...REFUND, onError: 'unknown', check: LOOK }]
    const client = await connect()
    const first = (await client.callTool(failing('after', 'k4'))) as Answer
    expect(first.content).toEqual([{ type: 'text', text: '"refund r4"' }])
    const again = (await client.callTool(failing('after', 'k4'))) as Answer
    expect([again.content, marksOf(again).replay]).toEqual([first.content, true])
    expect(effects).toEqual(['refund r4'])
  })
})

const REFUND = { name: 'refund', effect: 'write-non-idempotent' } as const
const LOOK = {
  tool: 'look',
  arguments: { id: '$args/id' },
  found: { at: '/refunds', empty: false },
  absent: { at: '/refunds', empty: true },
  result: '/refunds/0',
} as const
