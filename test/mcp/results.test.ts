/** What a gateway takes for the result of a call: whatever a server may write in one, whatever a person has said. */
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
async function messages(
  answer: (id: unknown) => Response,
  _meta: object = KEYED,
  who: Record<string, string> = {},
): Promise<unknown[]> {
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
      headers: { 'content-type': 'application/json', ...who },
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

const lost = (): Response => new Response(null, { status: 500 })
const paid = (id: unknown): Response =>
  Response.json({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: 'paid' }] } })
const KEYED = { 'ibid/idempotencyKey': 'k1' }

async function ended(value: unknown, meta?: object): Promise<unknown> {
  await messages(lost, meta)
  const { receipts } = await ibid.list({ tenant: 'acme', state: 'unknown' })
  for (const { tenant, scope, key } of receipts) {
    await ibid.resolve(
      { tenant, scope, key },
      { as: 'succeeded', value },
      { by: 'ada', why: 'seen at the bank' },
    )
  }
  return (await messages(lost, meta))[0]
}

describe('a result on a stream', () => {
  test.each([
    ['U+2028', '\u2028'],
    ['U+2029', '\u2029'],
    ['U+0085', '\u0085'],
    ['a return', '\r'],
  ])('with %s in it is the result of the call', async (_, sign) => {
    const result = { content: [{ type: 'text', text: `paid${sign}ada` }] }
    const stream = (id: unknown): Response =>
      new Response(`event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`, {
        headers: { 'content-type': 'text/event-stream' },
      })
    expect(await messages(stream)).toMatchObject([result])
    expect((await ibid.list({ tenant: 'acme' })).receipts).toMatchObject([{ state: 'succeeded' }])
  })
})

describe('a held call that a person ended', () => {
  test.each<[string, unknown, object]>([
    ['without a value', undefined, { content: [{ type: 'text', text: 'null' }] }],
    ['with a text', 'by hand', { content: [{ type: 'text', text: '"by hand"' }] }],
    [
      'with an object',
      { refund: 're_1', cents: 5n },
      {
        content: [{ type: 'text', text: '{"refund":"re_1","cents":"5"}' }],
        structuredContent: { refund: 're_1', cents: '5' },
      },
    ],
    ['with a result', { content: [] }, { content: [] }],
  ])('[R14] %s is done: the next call is shown what the person said', async (_, value, result) => {
    const shown = await ended(value)
    expect(shown).toMatchObject({ ...result, _meta: { 'ibid/idempotency': { replay: true } } })
    expect(Object.keys(shown as object).toSorted()).toEqual([...Object.keys(result), '_meta'].toSorted())
  })

  test('[R14] and that has no key asks, and shows it beside the question', async () => {
    const shown = await ended('by hand', {})
    expect(shown).toMatchObject({ isError: true, content: [{}, { type: 'text', text: '"by hand"' }] })
  })
})

describe('a result that was made for one caller', () => {
  const KEYS = [
    { 'x-api-key': 'ada' },
    { 'x-api-key': 'bob' },
    { 'x-api-key': 'ada', authorization: 'Basic x' },
  ]

  test('[R1] is not shown to one with another X-API-Key, with or without a key of its host', async () => {
    const all = await Promise.all(KEYS.map(async (who) => await messages(paid, {}, who)))
    expect(all).toMatchObject(KEYS.map(() => [{ content: [{ text: 'paid' }] }]))
    expect((await ibid.list({ tenant: 'acme' })).receipts).toHaveLength(3)
    expect(await messages(paid, KEYED, KEYS[0])).toMatchObject([{ content: [{ text: 'paid' }] }])
    expect(JSON.stringify(await messages(paid, KEYED, KEYS[1]))).toContain('KEY_REUSED')
  })

  test('[R1] and who is known by nothing but a cookie is sent away, and nothing is sent on', async () => {
    let sent = 0
    const count = (id: unknown): Response => (sent++, paid(id))
    expect(await messages(count, KEYED, { cookie: 'session=ada' })).toEqual([undefined])
    expect(sent).toBe(0)
    const both = { cookie: 'session=ada', authorization: 'Bearer ada' }
    expect(await messages(count, KEYED, both)).toMatchObject([{ content: [{ text: 'paid' }] }])
  })
})
