/**
 * Bodies that look like requests, on raw sockets through the proxy: its connections to the origin are shared, and a
 * body that ends elsewhere than was stated would become the request of somebody else.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect, createServer as createRawServer, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { createIbid } from '../../src/ibid.js'
import { createLog } from '../../src/server/log.js'
import { createProxy } from '../../src/server/proxy.js'
import { readSettings } from '../../src/server/settings.js'
import { memoryStore } from '../../src/stores/memory/index.js'
import { openOrigin } from './origin.js'

const SMUGGLED = 'POST /admin HTTP/1.1\r\nHost: x\r\nAuthorization: mallory\r\nContent-Length: 0\r\n\r\n'
const CHUNKED = `${SMUGGLED.length.toString(16)}\r\n${SMUGGLED}\r\n0\r\n\r\n`

async function openProxy(upstream: string, flags: Record<string, string> = {}): Promise<number> {
  const settings = readSettings({ proxyKeys: 'optional', ...flags }, {})
  const ibid = createIbid({ store: memoryStore() })
  const proxy = createProxy(ibid, upstream, settings, createLog('off'))
  const server = createServer(proxy.listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    server.closeAllConnections()
    server.close()
    proxy.close()
    await ibid.close()
  })
  return (server.address() as AddressInfo).port
}

function dial(port: number, bytes: string): Socket {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  socket.write(bytes)
  return socket
}

/** Another caller, whose write is kept: what it gets, and what it gets again. */
async function refund(port: number): Promise<string[]> {
  const answers: string[] = []
  for (let i = 0; i < 2; i++) {
    const response = await fetch(`http://127.0.0.1:${port}/refunds`, {
      method: 'POST',
      headers: { 'idempotency-key': 'k', authorization: 'ada' },
      body: '{}',
    })
    answers.push(await response.text())
  }
  return answers
}

const FRAMINGS = [
  ['chunks', 'Connection: close\r\nTransfer-Encoding: chunked', CHUNKED],
  [
    'its length named away',
    `Connection: close, content-length\r\nContent-Length: ${SMUGGLED.length}`,
    SMUGGLED,
  ],
  ['a length', `Connection: close\r\nContent-Length: ${SMUGGLED.length}`, SMUGGLED],
] as const
const KEYED = ['DELETE', 'POST', 'PUT'].map((method) => [method, ' of a kept write'] as const)
const PLAIN = ['GET', 'HEAD', 'DELETE', 'OPTIONS', 'POST'].map((method) => [method, ''] as const)
const CASES = [...PLAIN, ...KEYED].flatMap(([method, kind]) =>
  FRAMINGS.map(([how, framing, body]) => [method, how, kind, framing, body] as const),
)

test.each(CASES)('[R1] [R40] the body of %s, framed by %s, stays a body%s', async (...of) => {
  const [method, , kind, framing, body] = of
  const key = kind === '' ? '' : 'Idempotency-Key: "s"\r\n'
  const origin = await openOrigin((seen, response) => {
    // An answer that comes late is the one that the next caller would get.
    setTimeout(() => response.end(`answer to ${seen.method} ${seen.url}`), seen.url === '/admin' ? 100 : 0)
  })
  const port = await openProxy(origin.url)
  const answer = await text(
    dial(port, `${method} /thing HTTP/1.1\r\nHost: x\r\n${key}${framing}\r\n\r\n${body}`),
  )
  expect(answer).toMatch(/^HTTP\/1\.1 200 /)
  expect(answer.split('\r\n').at(-1)).toBe(method === 'HEAD' ? '' : `answer to ${method} /thing`)
  expect(await refund(port)).toEqual(['answer to POST /refunds', 'answer to POST /refunds'])
  expect(origin.seen.map((seen) => [seen.method, seen.url, seen.body])).toEqual([
    [method, '/thing', SMUGGLED],
    ['POST', '/refunds', '{}'],
  ])
})

test('what has no body is sent without one, and its connection is used again', async () => {
  const origin = await openOrigin()
  const port = await openProxy(origin.url)
  for (const method of ['GET', 'OPTIONS', 'DELETE', 'POST'])
    await text(dial(port, `${method} /thing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`))
  expect(
    origin.seen.map(({ method, body, headers }) => [
      method,
      body,
      headers['content-length'],
      headers['transfer-encoding'],
    ]),
  ).toEqual([
    ['GET', '', undefined, undefined],
    ['OPTIONS', '', undefined, undefined],
    ['DELETE', '', '0', undefined],
    ['POST', '', '0', undefined],
  ])
})

test('a body under another transfer coding is refused, because nothing would say how to read it', async () => {
  const origin = await openOrigin()
  const port = await openProxy(origin.url)
  const head =
    'POST /thing HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: gzip, chunked\r\n\r\n'
  expect(await text(dial(port, `${head}${CHUNKED}`))).toMatch(/^HTTP\/1\.1 501 .*"retriable":false/s)
  expect(origin.seen).toEqual([])
})

/** An origin that answers as soon as it has a head, reads on later, and takes what comes then for another one. */
async function openHasty(): Promise<{ url: string; sockets: readonly Socket[] }> {
  const sockets: Socket[] = []
  const server = createRawServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => {})
    socket.setEncoding('latin1').on('data', (said: string) => {
      for (const [, line] of said.matchAll(/^x*([A-Z]+ \S+) HTTP\/1\.1\r$/gm)) {
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${line?.length}\r\n\r\n${line}`)
        socket.pause()
        setTimeout(() => socket.resume(), 200)
      }
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, sockets }
}

test.each([
  ['chunks', 'Transfer-Encoding: chunked', '1\r\nx\r\n', CHUNKED],
  ['a length', `Content-Length: ${SMUGGLED.length + 1}`, 'x', SMUGGLED],
])(
  '[R1] an origin that answers before it has a body of %s is not used again',
  async (_how, framing, first, rest) => {
    const hasty = await openHasty()
    const port = await openProxy(hasty.url)
    const client = dial(port, `POST /early HTTP/1.1\r\nHost: x\r\n${framing}\r\n\r\n${first}`)
    let heard = ''
    client.setEncoding('latin1').on('data', (said: string) => (heard += said))
    await expect.poll(() => heard).toMatch(/POST \/early$/)
    client.write(rest)
    // Its own next request gets through, although nobody took the rest of the first.
    client.write('GET /second HTTP/1.1\r\nHost: x\r\n\r\n')
    await expect.poll(() => heard).toMatch(/GET \/second$/)
    expect(await refund(port)).toEqual(['POST /refunds', 'POST /refunds'])
    expect(hasty.sockets).toHaveLength(2)
    client.destroy()
  },
)

test('[R1] an origin that answers before it has a whole body is not used again, and its answer is kept', async () => {
  const hasty = await openHasty()
  const port = await openProxy(hasty.url)
  const body = 'x'.repeat(9_000_000) + SMUGGLED
  for (let i = 0; i < 2; i++) {
    const headers = { 'idempotency-key': 'k' }
    const response = await fetch(`http://127.0.0.1:${port}/big`, { method: 'POST', headers, body })
    expect(await response.text()).toBe('POST /big')
  }
  const [first] = hasty.sockets
  const isTaken = (): boolean => first?.destroyed === true || (first?.bytesRead ?? 0) > body.length
  await expect.poll(isTaken).toBe(true)
  expect(await refund(port)).toEqual(['POST /refunds', 'POST /refunds'])
  expect(hasty.sockets).toHaveLength(2)
})

test.each([
  ['chunks', 'Transfer-Encoding: chunked', CHUNKED.slice(0, -30)],
  ['a length', `Content-Length: ${SMUGGLED.length + 1}`, SMUGGLED],
])('[R1] a client that goes in the middle of %s takes its connection along', async (_how, framing, body) => {
  const origin = await openOrigin()
  const port = await openProxy(origin.url)
  const client = dial(port, `POST /thing HTTP/1.1\r\nHost: x\r\n${framing}\r\n\r\n${body}`)
  await new Promise((resolve) => setTimeout(resolve, 100))
  client.destroy()
  expect(await refund(port)).toEqual(['done 1', 'done 1'])
  expect(origin.seen.map(({ url, body: sent }) => [url, sent])).toEqual([['/refunds', '{}']])
})

test('[R1] nobody can name away what says whose request it is, and what is asked for', async () => {
  const origin = await openOrigin()
  const port = await openProxy(origin.url, { proxyTenantHeader: 'X-Account' })
  const named = [
    'Authorization',
    'Cookie',
    'Content-Type',
    'If-Match',
    'Idempotency-Key',
    'X-Account',
    'X-Hop',
  ]
  const lines = named.map((name) => `${name}: ${name === 'Idempotency-Key' ? '"k"' : 'x'}\r\n`).join('')
  const head = `POST /thing HTTP/1.1\r\nHost: x\r\nConnection: close, host, ${named.join(', ')}\r\n${lines}`
  await text(dial(port, `${head}Content-Length: 2\r\n\r\n{}`))
  const { headers = {} } = origin.seen[0] ?? {}
  expect(named.filter((name) => headers[name.toLowerCase()] === undefined)).toEqual(['X-Hop'])
  expect(headers.host).toBe(new URL(origin.url).host)
})
