/** The MCP gateway at the server: behind a key, in front of a real MCP server, with a real client. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { ledger } from '../../src/testing/ledger.js'
import { tally } from '../../src/testing/tally.js'
import { caller, type House, openHouse } from './bench.js'

const BANK = fileURLToPath(new URL('../fixtures/mcp-server.mjs', import.meta.url))

async function startBank(house: House): Promise<string> {
  const child = spawn(process.execPath, [BANK, '1', 'http', house.folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  tally({ processes: 1 })
  onTestFinished(async () => {
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  })
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
  return `http://127.0.0.1:${(JSON.parse(line) as { port: number }).port}/mcp`
}

async function connect(url: string, headers: Record<string, string>): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' })
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers } }))
  onTestFinished(async () => await client.close())
  return client
}

async function pay(client: Client) {
  return await client.callTool({
    name: 'pay',
    arguments: { to: 'bob', amount: 10 },
    _meta: { 'ibid/idempotencyKey': 'k1' },
  })
}

test('[R20] a tool that writes runs once per key and tenant; without an API key nothing passes', async () => {
  const house = openHouse()
  const served = await house.serve('--mcp-upstream', await startBank(house))
  const effects = ledger(join(house.folder, 'effects.jsonl'))
  const [ada, eve, reader] = [
    await house.newKey('ada'),
    await house.newKey('eve'),
    await house.newKey('ada', 'read'),
  ]

  const first = await connect(served.url, { authorization: `Bearer ${ada}` })
  const [one, two] = [await pay(first), await pay(first)]
  expect(two.content).toEqual(one.content)
  expect(effects.count('pay bob')).toBe(1)
  const other = await connect(served.url, { 'x-ibid-key': ada, authorization: 'Bearer for-the-bank' })
  expect((await pay(other)).content).toEqual(one.content)
  expect(effects.count('pay bob')).toBe(1)
  await pay(await connect(served.url, { authorization: `Bearer ${eve}` }))
  expect(effects.count('pay bob')).toBe(2)

  const call = {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'pay', arguments: { to: 'mallory', amount: 1 } },
  }
  for (const [key, status] of [
    [undefined, 401],
    ['ibid_wrong', 401],
    [reader, 403],
    [served.key, 403],
  ] as const) {
    expect((await caller(served.url, key)('/mcp', call)).status).toBe(status)
  }
  expect(effects.count('pay mallory')).toBe(0)
  const { body } = await caller(
    served.url,
    ada,
  )<{ receipts: { tenant: string; state: string }[] }>('/v1/receipts')
  expect(body.receipts).toMatchObject([{ tenant: 'ada', state: 'succeeded' }])
})

test('[R1] what a server says at any time ends with the key that listens; what was asked for is answered', async () => {
  const answers: ServerResponse[] = []
  const upstream = createServer((incoming, outgoing) => {
    incoming.resume()
    if (incoming.method === 'POST') return answers.push(outgoing)
    return outgoing.writeHead(200, { 'content-type': 'text/event-stream' }).write(': open\n\n')
  })
  upstream.listen(0, '127.0.0.1')
  await once(upstream, 'listening')
  onTestFinished(() => upstream.closeAllConnections())
  onTestFinished(() => void upstream.close())
  const house = openHouse()
  const { port } = upstream.address() as AddressInfo
  const served = await house.serve('--mcp-upstream', `http://127.0.0.1:${port}/mcp`)
  const lost = await house.newKey('ada')
  const headers = { authorization: `Bearer ${lost}`, accept: 'text/event-stream' }

  const asked = fetch(`${served.url}/mcp`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
  })
  const listening = await fetch(`${served.url}/mcp`, { headers })
  await house.ibid('keys', 'revoke', lost.split('_')[1] as string, '--why', 'lost')
  // Cut off, not ended: the server upstream has said nothing of an end.
  await expect(listening.text()).rejects.toThrow('terminated')
  const [open] = answers
  open?.writeHead(200, { 'content-type': 'application/json' }).end('{"jsonrpc":"2.0","id":1,"result":{}}')
  expect((await asked).status).toBe(200)
  expect((await fetch(`${served.url}/mcp`, { headers })).status).toBe(401)
})
