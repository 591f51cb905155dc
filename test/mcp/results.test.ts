/** What a gateway takes for the result of a call: whatever a server may write in one, and whatever a person has said. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { httpGateway, type McpContract } from '../../src/adapters/mcp.js'
import { createIbid, type Ibid } from '../../src/index.js'
import { memoryStore } from '../../src/stores/memory/index.js'

const CONTRACTS: readonly McpContract[] = [{ name: 'pay', effect: 'write-non-idempotent' }]

let ibid: Ibid
beforeEach(() => {
  ibid = createIbid({ store: memoryStore(), housekeeping: false })
})
afterEach(async () => await ibid.close())

/** A call that goes through a gateway in front of `answer`, and what comes back, message by message. */
async function messages(answer: (id: unknown) => Response, _meta: object = KEYED): Promise<unknown[]> {
  const gateway = httpGateway({
    ibid,
    tenant: 'acme',
    server: 'bank',
    contracts: CONTRACTS,
    upstream: async (request) => answer(((await request.json()) as { readonly id: unknown }).id),
  })
  const response = await gateway(
    new Request('http://gateway.test/', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'pay', _meta } }),
    }),
  )
  const text = await response.text()
  const all = text.startsWith('{')
    ? [text]
    : text.split('\n\n').map((event) => event.split('data: ')[1] ?? '')
  return all
    .filter((one) => one !== '')
    .map((one) => (JSON.parse(one) as { readonly result: unknown }).result)
}

const KEYED = { 'ibid/idempotencyKey': 'k1' }

describe('a result on a stream', () => {
  test.each(['\u2028', '\u2029', '\u0085', '\r', 'é'])(
    'with %j in it is the result of the call',
    async (sign) => {
      const result = { content: [{ type: 'text', text: `paid${sign}ada` }] }
      const stream = (id: unknown): Response =>
        new Response(`event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`, {
          headers: { 'content-type': 'text/event-stream' },
        })
      expect(await messages(stream)).toMatchObject([result])
      expect((await ibid.list({ tenant: 'acme' })).receipts).toMatchObject([{ state: 'succeeded' }])
    },
  )
})
