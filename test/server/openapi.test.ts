/** The document is true: every operation in it is called, and what comes back is what it says. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CLAIM_ROUTES } from '../../src/server/routes/claims.js'
import { EVENT_ROUTES } from '../../src/server/routes/events.js'
import { HELD_ROUTES } from '../../src/server/routes/held.js'
import { OPERATION_ROUTES } from '../../src/server/routes/operations.js'
import { RECEIPT_ROUTES } from '../../src/server/routes/receipts.js'
import { type Caller, caller, openHouse } from './bench.js'
import { type Document, readDocument } from './document.js'

let close = async (): Promise<void> => {}
let url: string
let key: string
let call: Caller
let document: Document
const called = new Set<string>()

beforeAll(async () => {
  const house = openHouse((end) => (close = end))
  const served = await house.serve()
  url = served.url
  key = served.key as string
  call = caller(url, key)
  document = await readDocument(call)
})
afterAll(() => close())

async function ask<T = never>(path: string, body?: unknown) {
  const method = body === undefined ? 'GET' : 'POST'
  const bare = path.replace(/\?.*/, '')
  const answer = await call<T>(path, body)
  called.add(`${method} ${bare}`)
  document.judge(method, bare, answer)
  return answer
}

const tenant = 'acme'
const at = (name: string) => ({ tenant, scope: 'refund', key: name })
const where = (name: string): string => `tenant=acme&scope=refund&key=${name}`
type Token = { readonly token: string }

test('it lists every route there is, and nothing else', () => {
  const routes = [...CLAIM_ROUTES, ...RECEIPT_ROUTES, ...HELD_ROUTES, ...EVENT_ROUTES, ...OPERATION_ROUTES]
  const listed = document.operations.map((one) => `${one.method} ${one.path}`)
  expect(document.openapi).toBe('3.1.0')
  expect(listed.sort()).toEqual(
    [...routes.map((one) => `${one.method} ${one.path}`), 'GET /v1/openapi.json'].sort(),
  )
})

test('claims and what follows them are as documented, in every outcome', async () => {
  const intent = {
    ...at('a'),
    payload: { amount: 1 },
    identity: { ignore: ['reason'] },
    lease: '1m',
    window: '1h',
    wait: 0,
    recovery: 'retry',
    maxAttempts: 3,
  }
  expect(document.judgeRequest('POST', '/v1/claims', intent)).toBe(true)
  expect(document.judgeRequest('POST', '/v1/claims', { claims: [intent] })).toBe(true)
  expect(document.judgeRequest('POST', '/v1/claims', { ...intent, lesae: '1m' })).toBe(false)
  const { token } = (await ask<Token>('/v1/claims', intent)).body
  expect((await ask('/v1/claims', intent)).status).toBe(409)
  expect((await ask('/v1/claims', { ...intent, payload: 2 })).status).toBe(422)
  expect((await ask('/v1/claims/renew', { ...at('a'), token })).status).toBe(200)
  expect((await ask('/v1/claims/settle', { ...at('a'), token, value: [1] })).status).toBe(200)
  expect((await ask('/v1/claims', intent)).status).toBe(200)
  const other = (await ask<Token>('/v1/claims', at('b'))).body.token
  const refusal = { as: 'failed', error: { code: 'NO', message: 'never', action: 'stop', data: [1] } }
  expect((await ask('/v1/claims/settle', { ...at('b'), token: other, ...refusal })).status).toBe(200)
  expect((await ask('/v1/claims', at('b'))).status).toBe(200)
  expect((await ask('/v1/claims/renew', { ...at('b'), token: other })).status).toBe(409)
  expect((await ask('/v1/claims/renew', { ...at('none'), token: other })).status).toBe(404)
  const third = (await ask<Token>('/v1/claims', at('c'))).body.token
  expect((await ask('/v1/claims/release', { ...at('c'), token: third, why: 'closed' })).status).toBe(200)
  const fourth = (await ask<Token>('/v1/claims', at('d'))).body.token
  expect((await ask('/v1/claims/hold', { ...at('d'), token: fourth, why: 'timed out' })).status).toBe(200)
  expect((await ask('/v1/claims', at('d'))).status).toBe(409)
  expect(
    (await ask('/v1/claims', { claims: [at('a'), at('b'), at('d'), at('e'), { scope: 'x' }] })).status,
  ).toBe(200)
  expect(
    (
      await ask('/v1/claims/renew', {
        claims: [
          { ...at('a'), token },
          { ...at('none'), token },
        ],
      })
    ).status,
  ).toBe(200)
})

test('looking, resolving and operating are as documented', async () => {
  for (const name of ['a', 'b', 'd', 'none']) await ask(`/v1/receipt?${where(name)}`)
  await ask(`/v1/receipt?${where('e')}&wait=10`)
  await ask('/v1/receipts/lookup', { receipts: [at('a'), at('none')] })
  await ask('/v1/receipts?limit=2')
  await ask('/v1/receipts?tenant=acme&state=unknown,failed&q=b')
  await ask(`/v1/receipt/history?${where('a')}`)
  await ask('/v1/receipt/timeline?tenant=acme&key=a')
  await ask('/v1/log?limit=3')
  await ask('/v1/held')
  const resolution = { ...at('d'), as: 'released', by: 'ada', why: 'the bank says no' }
  expect((await ask('/v1/resolutions', resolution)).status).toBe(200)
  expect((await ask('/v1/resolutions', resolution)).status).toBe(409)
  expect((await ask('/v1/resolutions', { resolutions: [resolution] })).status).toBe(200)
  for (const path of ['/v1/me', '/v1/stats', '/v1/check', '/v1/openapi.json'])
    expect((await ask(path)).status).toBe(200)
  expect((await ask('/v1/sweep', {})).status).toBe(200)
})

test('every refusal that any route can give is a documented problem', async () => {
  for (const { method, path } of document.operations) {
    const body = method === 'POST' ? {} : undefined
    const nobody = await caller(url)(path, body)
    expect(nobody.status).toBe(401)
    document.judge(method, path, nobody)
    const strange = method === 'POST' ? { strange: 1 } : undefined
    const wrong = await call(method === 'POST' ? path : `${path}?strange=1`, strange)
    expect(wrong.status, path).toBe(400)
    document.judge(method, path, wrong)
  }
})

test('decisions stream in as documented', async () => {
  const response = await fetch(`${url}/v1/events?tenant=acme`, {
    headers: { authorization: `Bearer ${key}` },
  })
  called.add('GET /v1/events')
  expect(response.headers.get('content-type')).toBe('text/event-stream')
  await ask('/v1/claims', at('streamed'))
  let text = ''
  const decoder = new TextDecoder()
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk)
    if (text.includes('\ndata: ') && text.endsWith('\n\n')) break
  }
  expect(text).toMatch(/id: \d+\nevent: claimed\ndata: \{.*"key":"streamed"/)
})

test('nothing in the document was left out', () => {
  expect([...called].sort()).toEqual(document.operations.map((one) => `${one.method} ${one.path}`).sort())
})
