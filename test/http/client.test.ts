/** `ibid/fetch` against real servers: one key for one action, the same bytes each time, and no try too many. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, expect, onTestFinished, test } from 'vitest'
import { createFetch } from '../../src/adapters/fetch.js'
import { idempotent } from '../../src/adapters/node.js'
import { openIbid } from './fetch.js'

interface Try {
  readonly key: string | undefined
  readonly type: string | undefined
  readonly body: string
}

let close: () => void = () => {}
afterEach(() => close())

type Answer = (response: ServerResponse, tried: number) => void

async function serve(answer: Answer): Promise<{ readonly url: string; readonly tries: Try[] }> {
  const tries: Try[] = []
  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = (await buffer(request)).toString('latin1')
    const { 'idempotency-key': key, 'content-type': type } = request.headers
    tries.push({ key: key as string | undefined, type, body })
    answer(response, tries.length)
  }
  const server = createServer(
    (request, response) => void take(request, response).catch(() => response.destroy()),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  close = () => server.close().closeAllConnections()
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/refunds`, tries }
}

const quick = { pause: 1, maxPause: 5 } as const
const problem = (retriable: boolean): string => JSON.stringify({ code: 'ANY', retriable })

function end(response: ServerResponse, status: number, body = '', type = 'application/problem+json'): void {
  response.writeHead(status, { 'content-type': type, 'retry-after': '0' }).end(body)
}

test('the same key and the same bytes at every try, a form included [R20]', async () => {
  const { url, tries } = await serve((response, tried) => end(response, tried < 4 ? 503 : 201))
  const body = new FormData()
  body.set('note', 'once')
  const response = await createFetch(quick)(url, { method: 'POST', body, key: 'wf_81:step_3' })
  expect([response.status, tries.length]).toEqual([201, 4])
  expect(new Set(tries.map((one) => JSON.stringify(one))).size).toBe(1)
  expect(tries[0]?.key).toBe('"wf_81:step_3"')
})

test('a connection that breaks is tried again; one that always breaks is an error that says so', async () => {
  const { url, tries } = await serve((response, tried) =>
    tried < 3 ? void response.destroy() : end(response, 201),
  )
  const fetch = createFetch({ ...quick, attempts: 3 })
  expect((await fetch(url, { method: 'POST', key: 'k' })).status).toBe(201)
  expect(tries).toHaveLength(3)
  close()
  await expect(fetch(url, { method: 'POST', key: 'k' })).rejects.toMatchObject({
    code: 'UPSTREAM_TIMEOUT',
    retriable: true,
    action: expect.stringContaining('same key'),
  })
})

test.each([
  ['409 that says it may be repeated', 409, problem(true), 3],
  ['409 that says it may not', 409, problem(false), 1],
  ['422', 422, problem(true), 1],
  ['500', 500, '', 3],
  ['404', 404, '', 1],
])('%s: as many tries as are safe', async (_what, status, body, tries) => {
  const site = await serve((response) => end(response, status, body))
  const response = await createFetch({ ...quick, attempts: 3 })(site.url, { method: 'POST', key: 'k' })
  expect([response.status, await response.text(), site.tries.length]).toEqual([status, body, tries])
})

test('a replayed failure is the result, and not tried again', async () => {
  const { url, tries } = await serve((response) => {
    response.setHeader('idempotency-replayed', 'true')
    end(response, 500)
  })
  expect((await createFetch(quick)(url, { method: 'POST', key: 'k' })).status).toBe(500)
  expect(tries).toHaveLength(1)
})

test('Retry-After is honoured, and only as far as allowed', async () => {
  const { url } = await serve((response, tried) => {
    response.setHeader('retry-after', '86400')
    response.writeHead(tried === 1 ? 429 : 200).end()
  })
  expect((await createFetch({ pause: 1, maxPause: 20 })(url, { method: 'POST', key: 'k' })).status).toBe(200)
})

test('a write without a key is refused, and a key that no header can carry; a read needs none', async () => {
  const { url, tries } = await serve((response) => end(response, 200))
  const fetch = createFetch(quick)
  await expect(fetch(url, { method: 'POST' })).rejects.toMatchObject({ code: 'INVALID_INTENT' })
  await expect(fetch(url, { method: 'POST', key: 'ключ' })).rejects.toMatchObject({ code: 'INVALID_INTENT' })
  expect(tries).toEqual([])
  expect((await fetch(url)).status).toBe(200)
})

test('aborting ends the waiting', async () => {
  const stop = new AbortController()
  const { url, tries } = await serve((response) => {
    end(response, 503)
    stop.abort()
  })
  const asked = createFetch({ pause: '1h', maxPause: '1h' })(url, {
    method: 'POST',
    key: 'k',
    signal: stop.signal,
  })
  await expect(asked).rejects.toMatchObject({ name: 'AbortError' })
  expect(tries).toHaveLength(1)
})

test('with the guard on the other side: a lost answer is found, and the effect happened once [R20] [R60]', async () => {
  let effects = 0
  const guard = idempotent(openIbid())((request, response) => {
    // The first answer gets lost on its way.
    if (++effects === 1) request.socket.destroy()
    response.writeHead(201).end(`refund ${effects}`)
  })
  const server = createServer(guard)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  close = () => server.close().closeAllConnections()
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/refunds`
  const got = await createFetch(quick)(url, { method: 'POST', body: '{}', key: 'k' })
  expect([got.status, await got.text(), got.headers.get('idempotency-replayed')]).toEqual([
    201,
    'refund 1',
    'true',
  ])
  expect(effects).toBe(1)
})

test('a try is given up when its time is over, however often memory is collected', async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const timer = setInterval(collect, 20)
  onTestFinished(() => clearInterval(timer))
  const { url, tries } = await serve((response, tried) => {
    if (tried > 1) end(response, 201, 'done', 'text/plain')
  })
  const keyed = createFetch({ ...quick, timeout: 1_500 })
  const response = await keyed(url, { method: 'POST', key: 'k', signal: new AbortController().signal })
  expect([await response.text(), tries.length]).toEqual(['done', 2])
})

test('the caller can stop it at any try, however often memory is collected', async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const { url, tries } = await serve(() => {})
  const stop = new AbortController()
  const asked = createFetch({ ...quick, timeout: 60_000 })(url, {
    method: 'POST',
    key: 'k',
    signal: stop.signal,
  })
  while (tries.length === 0) await sleep(5)
  for (let i = 0; i < 5; i++) {
    collect()
    await sleep(5)
  }
  stop.abort(new TypeError('enough'))
  await expect(asked).rejects.toThrow('enough')
})

test.each([{}, { timeout: 60_000 }])(
  'the caller can stop the reading of an answer, however often memory is collected: %j',
  async (options) => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const { url } = await serve((response) => void response.writeHead(200).write('a part'))
    const stop = new AbortController()
    const keyed = createFetch({ ...quick, ...options })
    const reading = (await keyed(url, { method: 'POST', key: 'k', signal: stop.signal })).text()
    for (let i = 0; i < 5; i++) {
      collect()
      await sleep(5)
    }
    stop.abort(new TypeError('enough'))
    const late = sleep(2_000).then(() => 'still reading')
    await expect(Promise.race([reading, late])).rejects.toThrow('enough')
  },
)

test('what else the caller says of a request goes along: its dispatcher, and what its answer has to be', async () => {
  const { url, tries } = await serve((response) => end(response, 200, 'changed', 'text/plain'))
  const once = createFetch({ ...quick, attempts: 1 })
  const integrity = `sha256-${'A'.repeat(43)}=`
  await expect(once(url, { integrity })).rejects.toMatchObject({ code: 'UPSTREAM_TIMEOUT' })
  await expect(once(new Request(url, { integrity }))).rejects.toMatchObject({ code: 'UPSTREAM_TIMEOUT' })
  const straight = tries.length
  const through: string[] = []
  const dispatcher = {
    dispatch({ path }: { readonly path: string }) {
      through.push(path)
      throw new Error('no such proxy')
    },
  } as never
  await expect(once(url, { method: 'POST', key: 'k', dispatcher })).rejects.toThrow('no answer')
  expect([through, tries.length]).toEqual([['/refunds'], straight])
})

test('a time that is longer than a timer lasts is not over at once, and none at all is refused', async () => {
  const { url } = await serve((response) => setTimeout(() => end(response, 200), 50))
  expect((await createFetch({ attempts: 1, timeout: '30d' })(url)).status).toBe(200)
  expect(() => createFetch({ timeout: 0 })).toThrow('timeout is zero')
  const stop = new AbortController()
  const busy = await serve((response) => void response.writeHead(503, { 'retry-after': '9999999' }).end())
  const asked = createFetch({ maxPause: '90d' })(busy.url, { signal: stop.signal })
  asked.catch(() => undefined)
  await sleep(300)
  stop.abort(new TypeError('enough'))
  await expect(asked).rejects.toThrow('enough')
  expect(busy.tries).toHaveLength(1)
})

test.each(['0.2', '-1', 'soon', ''])('Retry-After: %j is no reason to come back at once', async (value) => {
  const times: number[] = []
  const { url } = await serve((response, tried) => {
    times.push(performance.now())
    response.writeHead(tried === 1 ? 503 : 200, { 'retry-after': value }).end()
  })
  expect((await createFetch({ pause: 200 })(url)).status).toBe(200)
  expect((times[1] as number) - (times[0] as number)).toBeGreaterThan(80)
})
