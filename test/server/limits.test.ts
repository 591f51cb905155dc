/**
 * Too long, too many, too fast, too strange: each is refused with a reason, and nothing of it is a fault of the
 * server.
 */
import { request } from 'node:http'
import { connect } from 'node:net'
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Caller, caller, type House, openHouse, type Served } from './bench.js'
import { type Document, readDocument } from './document.js'

let close = async (): Promise<void> => {}
let house: House
let served: Served
let acme: string
let call: Caller
let document: Document

beforeAll(async () => {
  house = openHouse((end) => (close = end))
  const tenants = {
    slow: { ratePerSecond: 1, burst: 3 },
    small: { quotaPerDay: 2 },
    little: { quotaPerDay: 3 },
  }
  const config = house.write('ibid.json', JSON.stringify({ maxBodyBytes: 20_000, maxBatch: 20, tenants }))
  served = await house.serve('--config', config)
  acme = await house.newKey('acme', 'admin')
  call = caller(served.url, acme)
  document = await readDocument(call)
})
afterAll(() => close())

describe('sizes', () => {
  test('a body over the limit gets 413, whether its length was announced or not', async () => {
    const long = { scope: 'a', key: 'long', payload: 'x'.repeat(20_001) }
    expect(await call('/v1/claims', long)).toMatchObject({ status: 413, body: { code: 'TOO_LARGE' } })
    const status = await new Promise<number>((resolve, reject) => {
      const { hostname, port } = new URL(served.url)
      const sending = request(
        { hostname, port, path: '/v1/claims', method: 'POST', headers: { authorization: `Bearer ${acme}` } },
        (answer) => {
          answer.resume()
          resolve(answer.statusCode ?? 0)
        },
      )
      sending.on('error', reject)
      for (let i = 0; i < 30; i++) sending.write('x'.repeat(1_000))
      sending.end()
    })
    expect(status).toBe(413)
    expect((await call('/v1/receipt?scope=a&key=long')).body).toEqual({ receipt: null })
  })

  test('more items than the limit get 413, and none of them is done', async () => {
    const claims = Array.from({ length: 21 }, (_, i) => ({ scope: 'many', key: `k${i}` }))
    expect(await call('/v1/claims', { claims })).toMatchObject({ status: 413 })
    expect(await call('/v1/receipts/lookup', { receipts: claims })).toMatchObject({ status: 413 })
    expect((await call('/v1/receipts?scope=many')).body).toEqual({ receipts: [] })
    expect(await call('/v1/claims', { claims: claims.slice(1) })).toMatchObject({ status: 200 })
  })
})

describe('rates and quotas', () => {
  test('a tenant that asks too fast gets 429 with Retry-After; others do not notice', async () => {
    const slow = caller(served.url, await house.newKey('slow'))
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, i) => slow('/v1/claims', { scope: 'a', key: `r${i}` })),
    )
    const refused = answers.filter((one) => one.status === 429)
    expect(refused.length).toBeGreaterThanOrEqual(6)
    expect(refused[0]).toMatchObject({ body: { code: 'RATE_LIMITED', retriable: true } })
    expect(Number(refused[0]?.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
    const claims = Array.from({ length: 3 }, (_, i) => ({ scope: 'a', key: `b${i}` }))
    expect(await slow('/v1/claims', { claims })).toMatchObject({ status: 429 })
    expect((await call('/v1/me')).status).toBe(200)
    await expect.poll(async () => (await slow('/v1/me')).status, { timeout: 20_000, interval: 500 }).toBe(200)
  })

  test('[R1] two keys for every tenant have a rate each, also where many receipts are looked up', async () => {
    const own = openHouse()
    const { url } = await own.serve('--rate-per-second', '1', '--burst', '5')
    const keys = [await own.newKey('*', 'read'), await own.newKey('*', 'read')]
    const receipts = Array.from({ length: 5 }, (_, i) => ({ tenant: 'acme', scope: 'a', key: `k${i}` }))
    const answers = await Promise.all(
      keys.map((key) => caller(url, key)('/v1/receipts/lookup', { receipts })),
    )
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
  })

  test('a tenant that has used its quota writes nothing more today', async () => {
    const small = caller(served.url, await house.newKey('small'))
    for (const key of ['a', 'b']) expect((await small('/v1/claims', { scope: 'q', key })).status).toBe(201)
    const third = await small('/v1/claims', { scope: 'q', key: 'c' })
    expect(third).toMatchObject({ status: 429, body: { code: 'QUOTA_EXCEEDED' } })
    expect((await small('/v1/receipt?scope=q&key=c')).body).toEqual({ receipt: null })
  })

  test('a quota holds for what comes at once, in one request or in many', async () => {
    const little = caller(served.url, await house.newKey('little'))
    const claims = Array.from({ length: 20 }, (_, i) => ({ scope: 'q', key: `k${i}` }))
    const { body } = await little<{ results: { status: number }[] }>('/v1/claims', { claims })
    const alone = await Promise.all(
      Array.from({ length: 20 }, (_, i) => little('/v1/claims', { scope: 'q', key: `a${i}` })),
    )
    const statuses = [...body.results, ...alone].map(({ status }) => status)
    expect(statuses.filter((status) => status === 201)).toHaveLength(3)
    expect(statuses.filter((status) => status === 429)).toHaveLength(37)
    const { body: page } = await little<{ receipts: unknown[] }>('/v1/receipts')
    expect(page.receipts).toHaveLength(3)
  })
})

const isFine = (status: number): boolean => status < 500 && status >= 200

describe('strange input is never a fault of the server', () => {
  const word = fc.oneof(
    fc.string({ maxLength: 300 }),
    fc.constantFrom(
      '',
      '\u0000',
      '\ud800',
      '__proto__',
      'constructor',
      '1e999',
      '9'.repeat(400),
      '30s',
      'null',
    ),
  )
  const json = fc.jsonValue({ maxDepth: 4 })
  const fields = [
    'tenant',
    'scope',
    'key',
    'payload',
    'identity',
    'token',
    'lease',
    'window',
    'wait',
    'recovery',
    'maxAttempts',
    'as',
    'value',
    'error',
    'by',
    'why',
    'claims',
    'resolutions',
    'receipts',
  ]
  const body = fc.oneof(
    json,
    fc.dictionary(fc.constantFrom(...fields), fc.oneof(json, word, fc.constant({ ignore: ['a'] }))),
    fc.record(
      {
        scope: word,
        key: word,
        payload: json,
        token: word,
        lease: fc.oneof(word, fc.double()),
        wait: fc.constantFrom(0, '1ms', -1, 'x'),
        as: word,
        error: json,
      },
      { requiredKeys: ['scope', 'key'] },
    ),
    fc.record({
      claims: fc.array(fc.oneof(json, fc.record({ scope: word, key: word, identity: json })), {
        maxLength: 25,
      }),
    }),
  )
  const query = fc.dictionary(
    fc.oneof(
      fc.constantFrom('tenant', 'scope', 'key', 'state', 'q', 'since', 'until', 'limit', 'cursor', 'wait'),
      word,
    ),
    fc.oneof(word, fc.constantFrom('0', '1', '-1', '10000000000000000000', 'pending', '1ms')),
    { maxKeys: 5 },
  )

  test('bodies', async () => {
    const paths = document.operations.filter((one) => one.method === 'POST').map((one) => one.path)
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...paths), body, async (path, sent) => {
        const { status, body: said } = await call(path, JSON.stringify(sent))
        expect(isFine(status), `${path} ${JSON.stringify(sent)} → ${status} ${JSON.stringify(said)}`).toBe(
          true,
        )
        const statuses = ((said as { results?: { status: number }[] }).results ?? []).map((one) => one.status)
        expect(statuses.every(isFine), `${path} ${JSON.stringify(sent)} → ${JSON.stringify(said)}`).toBe(true)
      }),
      { numRuns: 400 },
    )
  })

  test('bytes that are no JSON', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.string(),
          fc.string().map((text) => `{"scope":${text}`),
          fc.constantFrom('[', '{"a":1,"a":2}', '['.repeat(5_000)),
        ),
        async (text) => {
          expect(isFine((await call('/v1/claims', text)).status)).toBe(true)
        },
      ),
      { numRuns: 150 },
    )
  })

  test('queries', async () => {
    const paths = document.operations
      .filter((one) => one.method === 'GET' && one.path !== '/v1/events')
      .map((one) => one.path)
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...paths), query, async (path, asked) => {
        const text = new URLSearchParams(
          Object.entries(asked).map(([a, b]): [string, string] => [a.toWellFormed(), b.toWellFormed()]),
        ).toString()
        const { status, body: said } = await call(`${path}?${text}`)
        expect(isFine(status), `${path}?${text} → ${status} ${JSON.stringify(said)}`).toBe(true)
      }),
      { numRuns: 400 },
    )
  })

  test('a socket that speaks no HTTP, or stops in the middle, does not disturb the others', async () => {
    const { hostname, port } = new URL(served.url)
    const pieces = [
      '\r\n\r\n',
      'GET',
      'POST /v1/claims HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\n{"sco',
      `GET //// HTTP/1.1\r\nhost: a\r\n\r\n`,
      'GET http://elsewhere/v1/me HTTP/1.1\r\nhost: a\r\n\r\n',
      'OPTIONS * HTTP/1.1\r\nhost: a\r\n\r\n',
    ]
    const said = await Promise.all(
      pieces.map(
        (piece) =>
          new Promise<string>((resolve) => {
            let text = ''
            const socket = connect(Number(port), hostname, () => socket.end(piece))
            socket
              .on('data', (chunk) => (text += chunk.toString()))
              .on('close', () => resolve(text))
              .on('error', () => {})
          }),
      ),
    )
    for (const text of said) expect(text).not.toMatch(/HTTP\/1\.1 5\d\d/)
    expect((await call('/v1/me')).status).toBe(200)
    expect(served.log()).not.toContain('"level":"error"')
  })
})
