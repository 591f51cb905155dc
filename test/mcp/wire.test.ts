/** The gateway at the wire: what passes byte for byte, and what the answers of an HTTP server mean for a write. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { httpGateway, type McpContract } from '../../src/adapters/mcp.js'
import { createIbid, type Ibid } from '../../src/index.js'
import { memoryStore } from '../../src/stores/memory/index.js'
import { listen } from '../../src/cli/listen.js'
import { type Bench, bench, codeOf } from './bench.js'

const CONTRACTS: readonly McpContract[] = [{ name: 'pay', effect: 'write-non-idempotent' }]
const call = (id: number, key = 'k1'): object => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name: 'pay', arguments: { to: 'ada' }, _meta: { 'ibid/idempotencyKey': key } },
})
/** In a batch, as a notification, and with ids that are none. */
const LOOSE = [
  [call(1), call(2)],
  { ...call(1), id: undefined },
  { ...call(1), id: null },
  [[{ ...call(1), id: {} }]],
]
const done = (id: number): string =>
  JSON.stringify({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: 'paid' }] } })

function post(message: object, headers: Record<string, string> = {}): Request {
  const all = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...headers,
  }
  return new Request('http://gateway.test/mcp?trace=7', {
    method: 'POST',
    headers: all,
    body: JSON.stringify(message),
  })
}

describe('over stdio', () => {
  let at: Bench
  beforeEach(() => {
    at = bench()
  })
  afterEach(async () => await at.close())

  /** A gateway before a server that says what it hears. */
  function echo() {
    const child = at.start(at.gateway([], [process.execPath, '-e', 'process.stdin.pipe(process.stdout)']))
    const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]()
    return {
      child,
      async said(line: string): Promise<unknown> {
        child.stdin?.write(`${line}\n`)
        return (await lines.next()).value
      },
    }
  }

  test('everything that is no call of a tool passes as it came, byte for byte', async () => {
    const { said } = echo()
    for (const line of [
      '{"id":1,"jsonrpc":"2.0","method":"prompts/get","params":{"n":10.0,"big":12345678901234567890,"é":"\\u00e9"}}',
      '{ "jsonrpc" : "2.0" , "method":"notifications/cancelled","params":{"requestId":99} }',
      '{"jsonrpc":"2.0","id":"x","result":{"__proto__":{"a":1}}}',
      '[{"jsonrpc":"2.0","id":1,"method":"ping"}]',
      'this is no JSON',
      '',
      `"${'long '.repeat(100_000)}"`,
    ]) {
      expect(await said(line)).toBe(line)
    }
  })

  test('a call of a tool that cannot be answered by itself is refused', async () => {
    const { said } = echo()
    for (const loose of LOOSE) {
      const refused = JSON.parse((await said(JSON.stringify(loose))) as string) as object
      expect(refused).toMatchObject({ id: null, error: { code: -32_600 } })
    }
  })

  test('it ends when its client ends, and with the code of a server that ends first', async () => {
    const { child } = echo()
    child.stdin?.end()
    expect(await once(child, 'exit')).toEqual([0, null])
    const short = at.start(at.gateway([], [process.execPath, '-e', 'process.exit(7)']))
    expect(await once(short, 'exit')).toEqual([7, null])
    const none = at.start(at.gateway([], ['/nowhere/no-server']))
    expect(await once(none, 'exit')).toEqual([127, null])
  })

  test('a mistake on the command line is told on stderr, and nothing is started', async () => {
    const child = at.start(at.gateway(['--json', '--url', 'http://127.0.0.1:1/mcp'], ['cat']))
    const [line] = (await once(
      createInterface({ input: child.stderr as NodeJS.ReadableStream }),
      'line',
    )) as [string]
    expect(JSON.parse(line)).toMatchObject({ error: { code: 'INVALID_INTENT' } })
    expect(await once(child, 'exit')).toEqual([2, null])
  })
})

describe('over HTTP', () => {
  let ibid: Ibid
  let heard: { method: string; url: string; headers: IncomingMessage['headers'] }[]
  let close: (() => Promise<unknown>)[]
  beforeEach(() => {
    ibid = createIbid({ store: memoryStore(), tenant: 'acme', housekeeping: false })
    heard = []
    close = []
  })
  afterEach(async () => await Promise.all(close.map(async (end) => await end())))

  /** A server that answers as it is told, and the gateway before it. */
  async function before(respond: (request: IncomingMessage, response: ServerResponse) => void) {
    const server = createServer((request, response) => {
      heard.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers })
      request.resume().on('end', () => respond(request, response))
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    close.push(async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    })
    const upstream = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp?for=bank`
    return httpGateway({ ibid, tenant: 'acme', server: 'bank', upstream, contracts: CONTRACTS })
  }

  async function states(): Promise<string[]> {
    return (await ibid.list()).receipts.map(({ state }) => state)
  }

  test.each([401, 403, 404, 429])(
    'status %i passes as it came, and the call may be made again',
    async (status) => {
      const gateway = await before((_, response) => {
        response.writeHead(status, { 'www-authenticate': 'Bearer realm="bank"' }).end('not you')
      })
      const response = await gateway(post(call(1), { authorization: 'Bearer old' }))
      expect([response.status, response.headers.get('www-authenticate'), await response.text()]).toEqual([
        status,
        'Bearer realm="bank"',
        'not you',
      ])
      expect(await states()).toEqual(['released'])
      expect(heard[0]).toMatchObject({
        url: '/mcp?for=bank&trace=7',
        headers: { authorization: 'Bearer old' },
      })
    },
  )

  test.each([500, 502, 503, 504, 408])(
    'status %i says nothing about the effect: it is held',
    async (status) => {
      const gateway = await before((_, response) => void response.writeHead(status).end())
      for (const id of [1, 2]) {
        const { result } = (await (await gateway(post(call(id)))).json()) as { result: unknown }
        expect(codeOf(result)).toBe('OUTCOME_UNKNOWN')
      }
      expect(await states()).toEqual(['unknown'])
      expect(heard).toHaveLength(1)
    },
  )

  test.each([
    [-32_001, 'OUTCOME_UNKNOWN', 'unknown'],
    [-32_603, 'OUTCOME_UNKNOWN', 'unknown'],
    [-32_602, 'none', 'released'],
    [-32_042, 'none', 'released'],
  ])('[R34] error %i of the protocol: %s, and the receipt is %s', async (code, told, state) => {
    const error = { code, message: 'it did not work' }
    const gateway = await before((_, response) => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, error })
      response.writeHead(200, { 'content-type': 'application/json' }).end(body)
    })
    const answer = (await (await gateway(post(call(1)))).json()) as { result?: unknown; error?: unknown }
    expect(answer.error).toEqual(told === 'none' ? error : undefined)
    expect(answer.result === undefined ? 'none' : codeOf(answer.result)).toBe(told)
    expect(await states()).toEqual([state])
  })

  test('a redirect is not followed, and not handed on', async () => {
    const gateway = await before(
      (_, response) => void response.writeHead(307, { location: 'http://evil.test/' }).end(),
    )
    const response = await gateway(post(call(1)))
    expect([response.status, response.headers.get('location')]).toEqual([502, null])
    expect(await states()).toEqual(['released'])
    const list = await gateway(post({ jsonrpc: '2.0', id: 2, method: 'tools/list' }))
    expect([list.status, list.headers.get('location')]).toEqual([502, null])
  })

  test('a server that cannot be reached did nothing', async () => {
    const gateway = httpGateway({
      ibid,
      tenant: 'acme',
      server: 'bank',
      upstream: 'http://127.0.0.1:1/mcp',
      contracts: CONTRACTS,
    })
    const { result } = (await (await gateway(post(call(1)))).json()) as { result: unknown }
    expect(codeOf(result)).toBe('NOT_EXECUTED')
    expect(await states()).toEqual(['released'])
  })

  test('a stream that breaks off is taken up where it was, and its other messages pass', async () => {
    const note = JSON.stringify({
      jsonrpc: '2.0',
      method: 'notifications/message',
      params: { data: 'half way' },
    })
    const gateway = await before((request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      if (request.method === 'POST') response.end(`id: 1\nretry: 1\ndata: ${note}\n\n`)
      else response.end(`id: 2\ndata: ${done(1)}\n\n`)
    })
    const response = await gateway(post(call(1)))
    const text = await response.text()
    expect(text).toContain(`id: 1\nretry: 1\ndata: ${note}\n\n`)
    expect(text).toContain('"text":"paid"')
    expect(heard.map(({ method }) => method)).toEqual(['POST', 'GET'])
    expect(heard[1]?.headers['last-event-id']).toBe('1')
    expect(await states()).toEqual(['succeeded'])
  })

  test('a stream that breaks off for good leaves the call held', async () => {
    const gateway = await before((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(': nothing\n\n')
    })
    const text = await (await gateway(post(call(1)))).text()
    expect(text).toContain('OUTCOME_UNKNOWN')
    expect(await states()).toEqual(['unknown'])
  })

  test('[R61] a key that another principal brings is refused, and shows nothing of the first result', async () => {
    const gateway = await before((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(done(1))
    })
    const codeFor = async (headers: Record<string, string>): Promise<string> => {
      const { result } = (await (await gateway(post(call(1), headers))).json()) as { result: unknown }
      return codeOf(result)
    }
    expect(await codeFor({ authorization: 'Bearer a' })).toBe('none')
    for (const other of [{ authorization: 'Bearer b' }, {}]) expect(await codeFor(other)).toBe('KEY_REUSED')
    expect(await codeFor({ authorization: 'Bearer a' })).toBe('none')
    expect(heard).toHaveLength(1)
  })

  test('keys of two principals do not meet where the call has none, and answers are not mixed up', async () => {
    const gateway = await before((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(done(1))
    })
    const bare = { ...call(1), params: { name: 'pay', arguments: { to: 'ada' } } }
    for (const [who, code] of [
      ['Bearer a', 'none'],
      ['Bearer b', 'none'],
      ['Bearer a', 'NEEDS_HUMAN'],
    ] as const) {
      const { result } = (await (await gateway(post(bare, { authorization: who }))).json()) as {
        result: unknown
      }
      expect(codeOf(result)).toBe(code)
    }
    expect(heard).toHaveLength(2)
  })

  test('a call of a tool that cannot be answered by itself is refused', async () => {
    const gateway = await before((_, response) => void response.end())
    for (const loose of LOOSE) expect((await gateway(post(loose))).status).toBe(400)
    expect(heard).toEqual([])
  })

  test('on a port, it answers only to names that were meant', async () => {
    const gateway = await before((_, response) => void response.writeHead(200).end('{}'))
    const { url, close: stop } = await listen(gateway, { host: '127.0.0.1', port: 0 })
    close.push(stop)
    const status = async (headers: Record<string, string>): Promise<number> =>
      (await fetch(url, { method: 'POST', body: '{}', headers })).status
    expect(await status({})).toBe(200)
    expect(await status({ origin: 'http://localhost:3000' })).toBe(200)
    expect(await status({ origin: 'https://evil.test' })).toBe(403)
  })
})
