/** `ibid serve --upstream`: an API that knows nothing of keys, and what passes to it. */
import { request } from 'node:http'
import { expect, test } from 'vitest'
import { caller, openHouse } from './bench.js'
import { nobody, openOrigin } from './origin.js'

interface Sent {
  readonly status: number
  readonly replayed: boolean
  readonly headers: Headers
  readonly text: string
}

async function send(
  url: string,
  key: string | undefined,
  headers: Record<string, string> = {},
  body = '{"amount":1}',
): Promise<Sent> {
  const response = await fetch(`${url}/refunds`, {
    method: 'POST',
    headers: { ...headers, ...(key !== undefined && { 'idempotency-key': key }) },
    body,
    redirect: 'manual',
  })
  const { status } = response
  return {
    status,
    headers: response.headers,
    replayed: response.headers.get('idempotency-replayed') === 'true',
    text: await response.text(),
  }
}

test('[R40] [R60] fifty at once reach the origin once; key and credentials go along', async () => {
  const origin = await openOrigin()
  const { proxyUrl = '' } = await openHouse().serve('--upstream', `${origin.url}/base`, '--proxy-port', '0')
  const all = await Promise.all(
    Array.from({ length: 50 }, () => send(proxyUrl, 'k1', { authorization: 'Bearer ada' })),
  )
  expect(all.map(({ status, text }) => `${status} ${text}`)).toEqual(Array<string>(50).fill('201 done 1'))
  expect(all.filter((one) => !one.replayed)).toHaveLength(1)
  expect(origin.seen).toHaveLength(1)
  expect(origin.seen[0]).toMatchObject({
    url: '/base/refunds',
    body: '{"amount":1}',
    headers: {
      host: new URL(origin.url).host,
      'idempotency-key': 'k1',
      authorization: 'Bearer ada',
      'x-forwarded-host': new URL(proxyUrl).host,
    },
  })
  expect((await send(proxyUrl, 'k1', { authorization: 'Bearer ada' }, '{"amount":2}')).status).toBe(422)
  expect((await send(proxyUrl, undefined)).status).toBe(400)
  expect(origin.seen).toHaveLength(1)
})

test('[R1] two callers may choose the same key: each gets its own answer', async () => {
  const origin = await openOrigin()
  const { proxyUrl = '' } = await openHouse().serve('--upstream', origin.url, '--proxy-port', '0')
  const callers = [
    {},
    { authorization: 'Bearer ada' },
    { authorization: 'Bearer bob' },
    { 'x-api-key': 'Bearer ada' },
  ]
  for (const headers of callers) await send(proxyUrl, 'same', headers)
  expect(origin.seen).toHaveLength(callers.length)
  for (const [i, headers] of callers.entries())
    expect((await send(proxyUrl, 'same', headers)).text).toBe(`done ${i + 1}`)
})

test('a caller named by a header is one caller; without the header it is nobody', async () => {
  const origin = await openOrigin()
  const { proxyUrl = '' } = await openHouse().serve(
    '--upstream',
    origin.url,
    '--proxy-port',
    '0',
    '--proxy-tenant-header',
    'x-account',
  )
  await send(proxyUrl, 'k', { 'x-account': 'ada', authorization: 'Bearer old' })
  expect(await send(proxyUrl, 'k', { 'x-account': 'ada', authorization: 'Bearer new' })).toMatchObject({
    replayed: true,
    text: 'done 1',
  })
  expect((await send(proxyUrl, 'k')).status).toBe(403)
})

test.each(['derived', 'required', 'optional'])(
  '[R1] a write with nothing but a cookie is refused by name, and never answered with that of another: %s',
  async (keys) => {
    const origin = await openOrigin()
    const flags = ['--upstream', origin.url, '--proxy-port', '0', '--proxy-keys', keys]
    const { proxyUrl = '' } = await openHouse().serve(...flags)
    const key = keys === 'derived' ? undefined : 'checkout-1'
    for (const cookie of ['session=ada', 'session=bob']) {
      const { status, text } = await send(proxyUrl, key, { cookie })
      expect([status, JSON.parse(text)]).toMatchObject([
        403,
        {
          code: 'FORBIDDEN_SCOPE',
          retriable: false,
          action: expect.stringContaining('--proxy-tenant-header'),
        },
      ])
    }
    expect(origin.seen).toEqual([])
    expect(await send(proxyUrl, key, { cookie: 'a=1', authorization: 'Bearer ada' })).toMatchObject({
      status: 201,
      replayed: false,
    })
    expect(await send(proxyUrl, key, { cookie: 'a=2', authorization: 'Bearer ada' })).toMatchObject({
      status: 201,
      replayed: true,
    })
    expect(await send(proxyUrl, key)).toMatchObject({ status: 201, replayed: false })
    expect((await fetch(proxyUrl, { headers: { cookie: 'session=ada' } })).status).toBe(201)
  },
)

test('[R1] browsers that a trusted header names are callers of their own, whatever their cookies', async () => {
  const origin = await openOrigin()
  const flags = ['--upstream', origin.url, '--proxy-port', '0', '--proxy-keys', 'derived']
  const { proxyUrl = '' } = await openHouse().serve(...flags, '--proxy-tenant-header', 'x-account')
  const texts: string[] = []
  for (const [account, cookie] of [
    ['ada', 'a=1'],
    ['bob', 'a=1'],
    ['ada', 'a=2'],
  ] as const)
    texts.push((await send(proxyUrl, undefined, { 'x-account': account, cookie })).text)
  expect(texts).toEqual(['done 1', 'done 2', 'done 1'])
})

test('an unreachable origin is 502 and gives the key back; one that breaks off is held', async () => {
  const house = openHouse()
  const address = await nobody()
  const { url, key, proxyUrl = '' } = await house.serve('--upstream', address, '--proxy-port', '0')
  expect((await send(proxyUrl, 'k')).status).toBe(502)
  const origin = await openOrigin(
    (seen, response) => {
      if (seen.body === 'break') response.destroy()
      else response.writeHead(201).end('at last')
    },
    Number(new URL(address).port),
  )
  expect(await send(proxyUrl, 'k')).toMatchObject({ status: 201, replayed: false, text: 'at last' })
  expect((await send(proxyUrl, 'b', {}, 'break')).status).toBe(502)
  expect((await send(proxyUrl, 'b', {}, 'break')).status).toBe(409)
  expect(origin.seen).toHaveLength(2)
  const held = await caller(url, key)<{ receipts: { key: string; scope: string }[] }>('/v1/held')
  expect(held.body.receipts).toMatchObject([{ key: 'b', scope: 'http:POST /refunds' }])
})

test('no redirect is followed, and no host of a client is believed', async () => {
  const elsewhere = await openOrigin()
  const origin = await openOrigin((_seen, response) =>
    response.writeHead(307, { location: `${elsewhere.url}/stolen` }).end(),
  )
  const { proxyUrl = '' } = await openHouse().serve('--upstream', origin.url, '--proxy-port', '0')
  const redirected = await send(proxyUrl, 'k')
  expect([redirected.status, redirected.headers.get('location')]).toEqual([307, `${elsewhere.url}/stolen`])
  const { hostname, port } = new URL(proxyUrl)
  for (const path of [`${elsewhere.url}/absolute`, '//elsewhere/x', '/..//x', '*']) {
    const status = await new Promise<number>((resolve, reject) => {
      const asking = request(
        { hostname, port, path, headers: { host: new URL(elsewhere.url).host } },
        (answer) => {
          answer.resume()
          resolve(answer.statusCode ?? 0)
        },
      )
      asking.on('error', reject).end()
    })
    expect(status).toBe(307)
  }
  expect(elsewhere.seen).toEqual([])
  expect(origin.seen.map((one) => one.url)).toEqual(['/refunds', '/absolute', '//elsewhere/x', '/..//x', '/'])
})

test('[R61] a proxy killed while the origin works leaves the key reserved', async () => {
  const house = openHouse()
  const answers: (() => void)[] = []
  const origin = await openOrigin((_seen, response) => answers.push(() => response.end('late')))
  const served = await house.serve('--upstream', origin.url, '--proxy-port', '0')
  const first = send(served.proxyUrl ?? '', 'k').catch(() => undefined)
  await expect.poll(() => origin.seen.length).toBe(1)
  await served.kill()
  expect(await first).toBeUndefined()
  const next = await house.serve('--upstream', origin.url, '--proxy-port', '0')
  const receipts = await caller(
    next.url,
    served.key,
  )<{ receipts: { state: string; key: string }[] }>('/v1/receipts?key=k')
  expect(receipts.body.receipts).toMatchObject([{ state: 'pending', key: 'k' }])
  const again = await fetch(`${next.proxyUrl}/refunds`, {
    method: 'POST',
    headers: { 'idempotency-key': 'k' },
    body: 'x',
  })
  expect(again.status).toBe(422)
  expect(origin.seen).toHaveLength(1)
})
