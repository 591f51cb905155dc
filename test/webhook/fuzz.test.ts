/** Headers and bodies that nobody would send: never a 500, never a hang, never an entry. */
import { request } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { createServer, type Server } from 'node:http'
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { nodeHandler, webhook } from '../../src/guards/webhook/index.js'
import { createIbid, type Ibid } from '../../src/index.js'
import { memoryStore } from '../../src/stores/memory/index.js'
import { type FaultyStore, faultyStore } from '../../src/testing/faulty-store.js'
import { deliver, VENDORS, type Vendor } from './vendors.js'

const REFUSED = [400, 401, 405, 408, 413, 422]
const SIGNING = [
  'stripe-signature',
  'x-hub-signature-256',
  'x-github-delivery',
  'webhook-id',
  'webhook-timestamp',
  'webhook-signature',
  'svix-id',
  'svix-timestamp',
  'svix-signature',
  'x-slack-signature',
  'x-slack-request-timestamp',
  'x-shopify-hmac-sha256',
  'x-shopify-event-id',
  'x-acme-signature',
  'x-acme-time',
  'content-type',
] as const

const now = String(Math.floor(Date.now() / 1_000))
/** Near misses as well as noise: the parsers are written for these shapes. */
const value = fc.oneof(
  fc.string({ maxLength: 200 }),
  fc.constantFrom(
    '',
    ',',
    '=',
    't=',
    'v0=',
    'v1,',
    'sha256=',
    'NaN',
    '-1',
    '1e9',
    '9'.repeat(400),
    '__proto__',
    now,
  ),
  fc.stringMatching(/^[0-9a-f]{64}$/).map((mac) => `sha256=${mac}`),
  fc.stringMatching(/^[0-9a-f]{64}$/).map((mac) => `v0=${mac}`),
  fc.stringMatching(/^[0-9a-f]{64}$/).map((mac) => `t=${now},v1=${mac}`),
  fc.stringMatching(/^[A-Za-z0-9+/]{43}=$/),
  fc.stringMatching(/^[A-Za-z0-9+/]{43}=$/).map((mac) => `v1,${mac} v1,${mac}`),
)
const headers = fc.dictionary(fc.constantFrom(...SIGNING), value)
const body = fc.oneof(
  fc.uint8Array({ maxLength: 300 }),
  fc.json().map((text) => new TextEncoder().encode(text)),
  fc
    .constantFrom('{"id":"evt_1","type":"x"}', '{"__proto__":{"id":"x"}}', '[', '['.repeat(5_000))
    .map((text) => new TextEncoder().encode(text)),
)

interface Open {
  readonly ibid: Ibid
  readonly store: FaultyStore
  readonly hook: ReturnType<typeof webhook>
  readonly errors: unknown[]
}

function open(vendor: Vendor, maxBytes = 10_000): Open {
  const store = faultyStore(memoryStore())
  const ibid = createIbid({ store, tenant: 'acme', housekeeping: false })
  const errors: unknown[] = []
  const hook = webhook(ibid, {
    source: vendor.source(vendor.secret),
    maxBytes,
    handle: () => undefined,
    onError: (error) => errors.push(error),
  })
  return { ibid, store, hook, errors }
}

async function expectUntouched({ ibid, store, errors }: Open): Promise<void> {
  expect(errors).toEqual([])
  expect(store.calls('claim') + store.calls('swap') + store.calls('record')).toBe(0)
  expect((await ibid.list()).receipts).toEqual([])
  await ibid.close()
}

function withHeaders(base: Record<string, string>, given: Record<string, string>): Headers {
  const made = new Headers(base)
  for (const [name, text] of Object.entries(given)) {
    try {
      made.set(name, text)
    } catch {
      // Not a header that could be sent.
    }
  }
  return made
}

describe.each(VENDORS)('$name', (vendor) => {
  test('[R41] fuzzed headers and bodies are refused, and leave nothing behind', async () => {
    const opened = open(vendor)
    await fc.assert(
      fc.asyncProperty(headers, body, fc.boolean(), async (given, bytes, isStamped) => {
        const stamped = { 'x-slack-request-timestamp': now, 'webhook-timestamp': now, 'x-acme-time': now }
        const all = withHeaders(isStamped ? stamped : {}, given)
        const answer = await opened.hook(
          new Request('http://h/', { method: 'POST', headers: all, body: bytes }),
        )
        expect(REFUSED).toContain(answer.status)
        expect(answer.headers.get('content-type')).toBe('application/problem+json')
        expect(await answer.json()).toHaveProperty('code')
      }),
      { numRuns: 300 },
    )
    await expectUntouched(opened)
  })

  test('[R41] one changed header of a good delivery: refused, or the same event and no other', async () => {
    const opened = open(vendor)
    const good = await deliver(vendor)
    const text = await good.text()
    const names = [...good.headers.keys()].filter((name) => /signature|hmac/.test(name))
    expect(names).toHaveLength(1)
    const [name = ''] = names
    const signature = good.headers.get(name) ?? ''
    await fc.assert(
      fc.asyncProperty(fc.nat(signature.length - 1), fc.string({ maxLength: 3 }), async (at, put) => {
        const forged = signature.slice(0, at) + put + signature.slice(at + 1)
        fc.pre(forged.trim() !== signature)
        const all = withHeaders(Object.fromEntries(good.headers), { [name]: forged })
        fc.pre(all.get(name) !== signature)
        const answer = await opened.hook(
          new Request('http://h/', { method: 'POST', headers: all, body: text }),
        )
        expect(answer.status).toBe(401)
      }),
      { numRuns: 300 },
    )
    await expectUntouched(opened)
  })
})

describe('over a socket', () => {
  const [vendor] = VENDORS as [Vendor]
  let server: Server
  let port = 0
  let opened: Open

  beforeAll(async () => {
    opened = open(vendor)
    server = createServer(nodeHandler(opened.hook))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    port = (server.address() as AddressInfo).port
  })

  afterAll(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
    await expectUntouched(opened)
  })

  /** The status line of whatever comes back; undefined when the server hangs up on it. */
  function raw(text: string | Uint8Array): Promise<number | undefined> {
    return new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1')
      let said = ''
      socket.on('data', (piece) => (said += piece.toString('latin1')))
      socket.on('error', () => resolve(undefined))
      socket.on('close', () => resolve(said === '' ? undefined : Number(said.slice(9, 12))))
      socket.end(text)
    })
  }

  test('bytes in headers and in the request line', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('POST', 'GET', 'TRACE', 'PUT', 'OPTIONS'),
        fc.oneof(fc.constantFrom('/', '//', '*', '/%', 'http://[', '/..//'), fc.webPath()),
        fc.constantFrom(...SIGNING),
        fc.stringMatching(/^[\x20-\x7e\x80-\xff]{0,60}$/),
        fc.string({ maxLength: 50 }),
        async (method, path, name, text, sent) => {
          const bytes = Buffer.from(sent)
          const head = `${method} ${path || '/'} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n${name}: ${text}\r\n`
          const status = await raw(
            Buffer.concat([Buffer.from(`${head}Content-Length: ${bytes.length}\r\n\r\n`, 'latin1'), bytes]),
          )
          expect([...REFUSED, undefined]).toContain(status)
        },
      ),
      { numRuns: 150 },
    )
  })

  test('a body over the limit is answered 413, announced or not', async () => {
    for (const announced of [true, false]) {
      const status = await new Promise((resolve, reject) => {
        const sending = request({ port, host: '127.0.0.1', method: 'POST' }, (answer) => {
          answer.resume()
          resolve(answer.statusCode)
        })
        sending.on('error', reject)
        if (announced) sending.setHeader('content-length', 20_000)
        sending.write(Buffer.alloc(20_000))
        if (announced) sending.end()
      })
      expect(status).toBe(413)
    }
  })

  test('a sender that goes away in the middle of its body leaves nothing behind', async () => {
    await raw('POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 100\r\n\r\nhalf')
    expect(opened.store.calls('claim')).toBe(0)
  })
})

test('a body that never ends is given up on', async () => {
  const [vendor] = VENDORS as [Vendor]
  const { ibid } = open(vendor)
  let cancelled = false
  const endless = new ReadableStream({
    pull: () => new Promise(() => undefined),
    cancel: () => void (cancelled = true),
  })
  const hook = webhook(ibid, {
    source: vendor.source('s'),
    endpoint: 'slow',
    bodyTimeout: 20,
    handle: () => undefined,
  })
  const init = { method: 'POST', body: endless, duplex: 'half' } as const
  const answer = await hook(new Request('http://h/', init))
  expect(answer.status).toBe(408)
  expect(cancelled).toBe(true)
  await ibid.close()
})
