/** Requests that have one id, and connections that end: whose answer is whose, and what is left behind. */
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { guardTransport, httpGateway, type McpContract } from '../../src/adapters/mcp.js'
import { createIbid, type Ibid } from '../../src/index.js'
import { memoryStore } from '../../src/stores/memory/index.js'

const CONTRACTS: readonly McpContract[] = [
  { name: 'pay', effect: 'write-non-idempotent' },
  { name: 'look', effect: 'read' },
]

let ibid: Ibid
const unheard: unknown[] = []
const hear = (error: unknown): void => void unheard.push(error)
beforeEach(() => {
  ibid = createIbid({ store: memoryStore(), housekeeping: false })
  unheard.length = 0
  process.on('unhandledRejection', hear)
})
afterEach(async () => {
  await ibid.close()
  process.off('unhandledRejection', hear)
  expect(unheard).toEqual([])
})

const options = () => ({ ibid, tenant: 'acme', server: 'bank', contracts: CONTRACTS })
const called = (id: number, name: string, to = 'ada'): object => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: { to } },
})
const said = (id: number, text: string): object => ({
  jsonrpc: '2.0',
  id,
  result: { content: [{ type: 'text', text }] },
})

/** One's own server behind a guarded transport: what it hears, what its client is told, and both ends. */
function guarded() {
  const [heard, told]: [unknown[], unknown[]] = [[], []]
  const inside: {
    send(message: object): Promise<void>
    onmessage?: (message: object) => void
    onclose?: () => void
  } = { send: async (message) => void told.push(message) }
  const transport = guardTransport(inside as never, options()) as typeof inside
  Object.assign(transport, { onmessage: (message: object) => void heard.push(message) })
  return { heard, told, transport, say: (message: object) => inside.onmessage?.(message), inside }
}

test.each([
  ['a read', called(5, 'look')],
  ['something else', { jsonrpc: '2.0', id: 5, method: 'resources/list' }],
])('a write under the id of %s that has no answer yet is not sent', async (_what, first) => {
  const { heard, told, transport, say } = guarded()
  say(first)
  say(called(5, 'pay'))
  expect(told).toMatchObject([{ id: 5, error: { message: expect.stringContaining('nothing was sent') } }])
  await transport.send(said(5, 'seen'))
  expect([heard, told.slice(1)]).toEqual([[first], [said(5, 'seen')]])
  expect((await ibid.list({ tenant: 'acme' })).receipts).toEqual([])
  say(called(5, 'pay'))
  await expect.poll(() => heard.length).toBe(2)
  await transport.send(said(5, 'paid'))
  await expect.poll(() => told.length).toBe(3)
  expect(told[2]).toMatchObject(said(5, 'paid'))
})

test('something else under the id of a write that is under way does not answer for it', async () => {
  const { heard, told, transport, say } = guarded()
  say(called(5, 'pay'))
  await expect.poll(() => heard.length).toBe(1)
  say({ jsonrpc: '2.0', id: 5, method: 'resources/list' })
  expect(heard).toHaveLength(1)
  expect(told).toMatchObject([{ id: 5, error: {} }])
  await transport.send(said(5, 'paid'))
  await expect.poll(() => told.length).toBe(2)
})

test('a server whose end of the connection throws ends no process', async () => {
  const { transport, inside } = guarded()
  const onclose = vi.fn<() => void>(() => {
    throw new TypeError('already closed')
  })
  Object.assign(transport, { onclose })
  inside.onclose?.()
  await new Promise((resolve) => setImmediate(resolve))
  expect(onclose).toHaveBeenCalledOnce()
})

test('two programs with one token that count alike are served both; in one session, one of them is', async () => {
  let open: (() => void) | undefined
  let sent = 0
  const gate = new Promise<void>((resolve) => (open = resolve))
  const gateway = httpGateway({
    ...options(),
    async upstream() {
      sent++
      await gate
      return Response.json(said(1, 'paid'))
    },
  })
  const post = (to: string, more: Record<string, string> = {}): Promise<Response> =>
    gateway(
      new Request('http://gateway.test/', {
        method: 'POST',
        headers: { authorization: 'Bearer fleet', ...more },
        body: JSON.stringify(called(1, 'pay', to)),
      }),
    )
  const SESSION = { 'mcp-session-id': 'one' }
  const first = [post('ada'), post('bob'), post('cyd', SESSION)]
  await expect.poll(() => sent).toBe(3)
  const late = await post('dan', SESSION)
  open?.()
  const all = await Promise.all(first)
  expect([...all, late].map(({ status }) => status)).toEqual([200, 200, 200, 400])
  expect(sent).toBe(3)
})

test('an answer without a body leaves no connection behind', async () => {
  const server = createServer((_, response) => void response.writeHead(204).end())
  let connections = 0
  server.on('connection', () => connections++)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const gateway = httpGateway({ ...options(), upstream: `http://127.0.0.1:${port}/` })
  for (let n = 0; n < 5; n++) {
    expect((await gateway(new Request('http://gateway.test/', { method: 'DELETE' }))).status).toBe(204)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  server.closeAllConnections()
  server.close()
  expect(connections).toBe(1)
})
