/** A server from its first start to its stop, and what it says of itself on the way. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { caller, openHouse } from './bench.js'

const shell = promisify(execFile)

test('the first start prints three lines of curl that work as pasted; the second has no key to show', async () => {
  const house = openHouse()
  const served = await house.serve()
  expect(served.try).toHaveLength(3)
  const said: Record<string, unknown>[] = []
  for (const line of served.try ?? []) {
    expect(line).toMatch(/^curl /)
    const { stdout } = await shell('sh', ['-c', line])
    said.push(JSON.parse(stdout) as Record<string, unknown>)
  }
  expect(said).toMatchObject([
    { outcome: 'claimed' },
    { receipt: { state: 'succeeded' } },
    { outcome: 'succeeded', value: { refund: 're_1' } },
  ])
  const first = caller(served.url, served.key)
  await expect.poll(async () => (await first<{ hitRate: number }>('/v1/stats')).body.hitRate).toBe(0.5)
  await served.stop()
  const again = await house.serve()
  expect(again.key).toBeUndefined()
  expect((await caller(again.url, served.key)('/v1/me')).body).toMatchObject({ tenant: '*' })
})

test('servers that start together on a fresh store make one key', async () => {
  const house = openHouse()
  const servers = await Promise.all([house.serve(), house.serve(), house.serve()])
  expect(servers.filter((one) => one.key !== undefined)).toHaveLength(1)
})

test('a server that anybody can reach makes no key by itself', async () => {
  const house = openHouse()
  const served = await house.serve('--host', '0.0.0.0')
  expect(served.key).toBeUndefined()
})

test('a port that is taken is an error that says so', async () => {
  const house = openHouse()
  const { port } = new URL((await house.serve()).url)
  await expect(house.serve('--port', port)).rejects.toThrow(/EADDRINUSE/)
})

test('a stop answers who waits, finishes what is under way, and ends with 0', async () => {
  const house = openHouse()
  const served = await house.serve()
  const call = caller(served.url, served.key)
  const where = { tenant: 'acme', scope: 'a', key: 'k' }
  const { body } = await call<{ token: string }>('/v1/claims', where)
  const waiters = Array.from({ length: 20 }, () =>
    call<{ receipt: { state: string } }>('/v1/receipt?tenant=acme&scope=a&key=k&wait=50s'),
  )
  const claimer = call<{ code: string }>('/v1/claims', { ...where, wait: '50s' })
  const stream = await fetch(`${served.url}/v1/events`, {
    headers: { authorization: `Bearer ${served.key}` },
  })
  const streamed = stream.text()
  await expect.poll(async () => (await call<{ waiters: number }>('/v1/stats')).body.waiters).toBe(21)
  const ended = served.stop()
  for (const waiter of waiters)
    expect(await waiter).toMatchObject({ status: 200, body: { receipt: { state: 'pending' } } })
  expect(await claimer).toMatchObject({ status: 503, body: { code: 'CLOSED' } })
  expect(await streamed).toContain(': ibid')
  expect(await ended).toBe(0)
  expect(served.log()).toContain('"message":"stopped"')
  const next = await house.serve()
  const settled = await caller(next.url, served.key)('/v1/claims/settle', {
    ...where,
    token: body.token,
    value: 1,
  })
  expect(settled).toMatchObject({ status: 200, body: { receipt: { state: 'succeeded', attempt: 1 } } })
})

test('health, readiness, the page and metrics', async () => {
  const house = openHouse()
  const served = await house.serve('--metrics-port', '0')
  const nobody = caller(served.url)
  expect(await nobody('/healthz')).toMatchObject({ status: 200, body: 'ok\n' })
  expect(await nobody('/readyz')).toMatchObject({ status: 200, body: 'ok\n' })
  const page = await nobody('/')
  expect(page.status).toBe(200)
  const policy = page.headers.get('content-security-policy') ?? ''
  expect(policy).toContain("default-src 'none'")
  expect(policy).toContain("frame-ancestors 'none'")
  expect(policy).not.toMatch(/unsafe|https?:|\*/)
  expect(String(page.body)).not.toMatch(/(src|href)=(?!"\/[^/])/)
  for (const path of [
    '/../package.json',
    '/%2e%2e/package.json',
    '/etc/passwd',
    '/index.html%00',
    '/v1',
    '/mcp',
    '/hooks/x',
  ])
    expect((await nobody(path)).status, path).toBe(404)
  const call = caller(served.url, served.key)
  const where = { tenant: 'acme', scope: 'tool:refund', key: 'k' }
  const { body } = await call<{ token: string }>('/v1/claims', where)
  await call('/v1/claims', { ...where, payload: 'other' })
  await call('/v1/claims/hold', { ...where, token: body.token })
  const other = caller(served.metricsUrl ?? '')
  await expect
    .poll(async () => (await other<string>('/metrics')).body)
    .toMatch(/ibid_decisions_total\{event="conflict",layer="tool"\} 1/)
  const { body: text } = await call<string>('/metrics')
  expect(text).toMatch(/ibid_decisions_total\{event="claimed",layer="tool"\} 1/)
  expect(text).toMatch(/ibid_http_requests_total\{route="\/v1\/claims",status="422"\} 1/)
  expect(text).toMatch(/ibid_store_seconds_bucket\{verb="claim",le="\+Inf"\} \d+/)
  expect(text).toContain('ibid_ready 1')
  for (const line of text.split('\n')) expect(line).toMatch(/^(#.*|[a-z_]+(\{[^}]*\})? [-+0-9.eNaN]+|)$/)
  expect(text).not.toContain('acme')
  await expect.poll(async () => (await other<string>('/metrics')).body).toContain('ibid_held_receipts 1')
  expect((await other('/v1/me')).status).toBe(404)
})

test('logs are one JSON object a line, and hold no key, payload or value', async () => {
  const house = openHouse()
  const served = await house.serve()
  const call = caller(served.url, served.key)
  await call('/v1/claims', { tenant: 'acme', scope: 'a', key: 'hidden-key', payload: 'hidden-payload' })
  await call('/v1/claims', { tenant: 'ibid:server', scope: 'hidden-scope', key: 'hidden-key' })
  await caller(served.url, 'ibid_hidden')('/v1/me')
  await served.stop()
  const lines = served
    .log()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { time: string; level: string; message: string })
  expect(lines.map((line) => line.message)).toEqual([
    'listening',
    'a request was refused',
    'a request was refused',
    'stopping',
    'stopped',
  ])
  expect(served.log()).not.toContain('hidden')
})
