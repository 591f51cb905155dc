/** The gateway before a server whose list of tools cannot be had: which arguments count is not known then. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { createCatalogue, pageOf } from '../../src/adapters/mcp/catalogue.js'
import type { JsonObject } from '../../src/adapters/mcp/message.js'
import { httpGateway } from '../../src/adapters/mcp.js'
import { createIbid } from '../../src/index.js'
import { memoryStore } from '../../src/stores/memory/index.js'

const PAY = {
  name: 'pay',
  inputSchema: { type: 'object', properties: { note: { type: 'string', non_idempotent: true } } },
}

/** A gateway before a server that pays, and answers the list as it is told to. */
async function open() {
  const at = { list: 503, paid: 0 }
  const server = createServer((incoming, outgoing) => {
    void text(incoming).then((body) => {
      const { id, method } = JSON.parse(body) as { id: unknown; method: string }
      if (method === 'tools/list' && at.list !== 200) return outgoing.writeHead(at.list).end()
      if (method === 'tools/call') at.paid++
      const result =
        method === 'tools/list' ? { tools: [PAY] } : { content: [{ type: 'text', text: `paid ${at.paid}` }] }
      outgoing.writeHead(200, { 'content-type': 'application/json' })
      return outgoing.end(JSON.stringify({ jsonrpc: '2.0', id, result }))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const ibid = createIbid({ store: memoryStore(), housekeeping: false })
  onTestFinished(async () => {
    server.closeAllConnections()
    server.close()
    await ibid.close()
  })
  const { port } = server.address() as AddressInfo
  const gateway = httpGateway({
    ibid,
    tenant: 'acme',
    server: 'bank',
    upstream: `http://127.0.0.1:${port}/mcp`,
  })
  return {
    at,
    async pay(note: string, meta = {}): Promise<string> {
      const params = { name: 'pay', arguments: { to: 'ada', note }, _meta: meta }
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
      const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
      return await (
        await gateway(new Request('http://gateway.test/mcp', { method: 'POST', headers, body }))
      ).text()
    },
  }
}

test('[R34] a call in other words is not done twice because the list was missing at the first', async () => {
  const { at, pay } = await open()
  const first = await pay('as agreed')
  expect(first).toContain('nothing was sent')
  expect(at.paid).toBe(0)
  at.list = 200
  expect(await pay('as agreed by phone')).toContain('paid 1')
  await pay('as agreed')
  expect(at.paid).toBe(1)
})

test("[R20] a host's key needs no list", async () => {
  const { at, pay } = await open()
  const meta = { 'ibid/idempotencyKey': 'k1' }
  expect(await pay('as agreed', meta)).toContain('paid 1')
  expect(await pay('as agreed', meta)).toContain('paid 1')
  expect(at.paid).toBe(1)
})

const listOf = (...pages: (JsonObject | undefined)[]) => {
  const left = [...pages]
  return () => Promise.resolve(left.shift())
}

test.each<[string, JsonObject | undefined, unknown]>([
  ['has the tool', { tools: [PAY] }, PAY],
  ['has others', { tools: [{ name: 'look' }] }, undefined],
  ['is there no such method', pageOf({ error: { code: -32_601 } }), undefined],
  ['is there none', undefined, 'not told'],
  ['is there an error', pageOf({ error: { code: -32_603 } }), 'not told'],
  ['is a page missing', { tools: [], nextCursor: '2' }, 'not told'],
])('where the list %s, a tool is what it says', async (_, page, found) => {
  expect(await createCatalogue().find('pay', listOf(page))).toEqual(found)
})

test('a page that is missing behind the tool does no harm', async () => {
  expect(await createCatalogue().find('pay', listOf({ tools: [PAY], nextCursor: '2' }))).toEqual(PAY)
})
