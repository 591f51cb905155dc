/**
 * Webhooks at the server: believed when signed, forwarded with a key, tried again until the target has taken
 * them.
 */
import { expect, test } from 'vitest'
import { stripeVendor } from '../webhook/vendors.js'
import { caller, type House, openHouse, type Served } from './bench.js'
import { nobody, openOrigin } from './origin.js'

async function serveHook(
  house: House,
  target: string,
  more: object = {},
  ...flags: string[]
): Promise<Served> {
  const hook = {
    name: 'payments',
    source: 'stripe',
    secret: stripeVendor.secret,
    tenant: 'acme',
    target,
    ...more,
  }
  const config = house.write('ibid.json', JSON.stringify({ webhooks: [hook] }))
  return await house.serve('--config', config, ...flags)
}

async function deliver(
  { url }: Served,
  id: string,
  { secret = stripeVendor.secret, hook = 'payments', more = {} } = {},
): Promise<number> {
  const body = stripeVendor.body(id)
  const headers = { ...(await stripeVendor.headers(id, body, { secret })), ...more }
  const response = await fetch(`${url}/hooks/${hook}`, { method: 'POST', headers, body })
  await response.text()
  return response.status
}

test('[R41] a signed event reaches the target once, with its bytes and a key; a forged one never does', async () => {
  const target = await openOrigin()
  const served = await serveHook(openHouse(), `${target.url}/stripe?from=ibid`)
  expect(await deliver(served, 'evt_1', { secret: 'whsec_wrong' })).toBe(401)
  expect(target.seen).toHaveLength(0)
  expect(await Promise.all(Array.from({ length: 20 }, () => deliver(served, 'evt_1')))).toEqual(
    Array<number>(20).fill(200),
  )
  expect(await deliver(served, 'evt_1')).toBe(200)
  expect(target.seen).toHaveLength(1)
  expect(target.seen[0]).toMatchObject({
    method: 'POST',
    url: '/stripe?from=ibid',
    body: stripeVendor.body('evt_1'),
    headers: { 'ibid-event-id': 'evt_1', 'ibid-attempt': '1' },
  })
  expect(target.seen[0]?.headers['idempotency-key']).toMatch(/^"[\x21-\x7e]+"$/)
})

test('a target is posted to under its path and query as they were configured', async () => {
  const target = await openOrigin()
  const paths = ['/hook/', '/?token=1', '/hook/?token=1', '/hook', '/']
  const { secret } = stripeVendor
  const webhooks = ['', ...paths].map((path, i) => ({
    name: `at-${i}`,
    source: 'stripe',
    secret,
    target: target.url + path,
  }))
  const house = openHouse()
  const served = await house.serve('--config', house.write('ibid.json', JSON.stringify({ webhooks })))
  for (const { name } of webhooks) expect(await deliver(served, 'evt_6', { hook: name })).toBe(200)
  expect(target.seen.map((one) => one.url)).toEqual(['/', ...paths])
})

test("[R41] a key and an attempt of the vendor's own do not stand beside ours", async () => {
  const target = await openOrigin()
  const served = await serveHook(openHouse(), target.url)
  const more = {
    'idempotency-key': 'theirs',
    'x-idempotency-key': 'theirs',
    'ibid-attempt': '7',
    'ibid-epoch': '7',
    'ibid-event-id': 'evt_of_another',
    'x-theirs': 'kept',
  }
  expect(await deliver(served, 'evt_7', { more })).toBe(200)
  expect(target.seen).toMatchObject([
    {
      headers: {
        'idempotency-key': expect.stringMatching(/^"[\x21-\x7e]+"$/),
        'ibid-attempt': '1',
        'ibid-epoch': expect.stringMatching(/^\d{9,}$/),
        'ibid-event-id': 'evt_7',
        'x-theirs': 'kept',
      },
    },
  ])
  expect(target.seen[0]?.headers['idempotency-key']).not.toContain('theirs')
  expect(target.seen[0]?.headers).not.toHaveProperty('x-idempotency-key')
})

test('a target that is away, fails or redirects is tried again with the same key', async () => {
  const elsewhere = await openOrigin()
  const address = await nobody()
  const served = await serveHook(openHouse(), address)
  const delivered = deliver(served, 'evt_2')
  await expect.poll(() => served.log()).toContain('the target did not take an event')
  const target = await openOrigin(
    (_seen, response, number) => {
      if (number === 1) response.writeHead(500).end()
      else if (number === 2) response.writeHead(302, { location: elsewhere.url }).end()
      else if (number === 3) response.destroy()
      else response.writeHead(204).end()
    },
    Number(new URL(address).port),
  )
  expect(await delivered).toBe(200)
  expect(target.seen).toHaveLength(4)
  expect(new Set(target.seen.map((one) => one.headers['idempotency-key'])).size).toBe(1)
  expect(elsewhere.seen).toEqual([])
  expect(await deliver(served, 'evt_2')).toBe(200)
  expect(target.seen).toHaveLength(4)
})

test('an event that the target refuses for good is settled as refused, and the vendor stops', async () => {
  const target = await openOrigin((_seen, response) => response.writeHead(422).end())
  const served = await serveHook(openHouse(), target.url)
  expect(await deliver(served, 'evt_3')).toBe(200)
  expect(await deliver(served, 'evt_3')).toBe(200)
  expect(target.seen).toHaveLength(1)
  const { body } = await caller(
    served.url,
    served.key,
  )<{ receipts: { state: string }[] }>('/v1/receipts?tenant=acme&key=evt_3')
  expect(body.receipts).toMatchObject([{ state: 'failed', scope: 'hook:stripe/payments' }])
})

test('[R61] a server that is killed while it forwards: the vendor comes again, and the event gets there', async () => {
  const house = openHouse()
  const target = await openOrigin((_seen, response, number) => {
    if (number > 1) response.writeHead(200).end()
  })
  const served = await serveHook(house, target.url, { lease: '1s' })
  const first = deliver(served, 'evt_4').catch(() => 0)
  await expect.poll(() => target.seen.length).toBe(1)
  await served.kill()
  expect(await first).toBe(0)
  const next = await serveHook(house, target.url, { lease: '1s' })
  await expect.poll(async () => await deliver(next, 'evt_4'), { timeout: 30_000, interval: 100 }).toBe(200)
  expect(target.seen.map((one) => one.headers['ibid-attempt'])).toEqual(['1', '2'])
  expect(new Set(target.seen.map((one) => one.headers['idempotency-key'])).size).toBe(1)
  expect(await deliver(next, 'evt_4')).toBe(200)
  expect(target.seen).toHaveLength(2)
})

/** A stop in the middle of a delivery: the next server gets the event with the next delivery, and at once. */
async function expectTakenLater(house: House, port: number): Promise<void> {
  const target = await openOrigin(undefined, port)
  const next = await serveHook(house, target.url)
  expect(await deliver(next, 'evt_5')).toBe(200)
  expect(await deliver(next, 'evt_5')).toBe(200)
  expect(target.seen.map((one) => one.headers['ibid-attempt'])).toEqual(['2'])
  const { body } = await caller(
    next.url,
    await house.newKey('acme'),
  )<{
    receipts: { state: string; attempt: number }[]
  }>('/v1/receipts?key=evt_5')
  expect(body.receipts).toMatchObject([{ state: 'succeeded', attempt: 2 }])
}

test('[R61] a stop while the target is away: the vendor is told to come again, and the process ends', async () => {
  const house = openHouse()
  const address = await nobody()
  const served = await serveHook(house, address, {}, '--shutdown', '20s')
  const delivered = deliver(served, 'evt_5')
  // By then the pauses are longer than the stop may take.
  await expect
    .poll(() => served.log().split('the target did not take an event').length, { timeout: 40_000 })
    .toBeGreaterThan(5)
  const beganMs = performance.now()
  const ended = served.stop()
  expect(await delivered).toBe(503)
  expect(await ended).toBe(0)
  expect(performance.now() - beganMs).toBeLessThan(5_000)
  await expectTakenLater(house, Number(new URL(address).port))
})

test('[R61] a stop while the target does not answer: the process ends after its grace', async () => {
  const house = openHouse()
  const silent = await openOrigin(() => {})
  const served = await serveHook(house, silent.url, {}, '--shutdown', '500ms')
  const delivered = deliver(served, 'evt_5').catch(() => 0)
  await expect.poll(() => silent.seen.length).toBe(1)
  const beganMs = performance.now()
  expect(await served.stop()).toBe(0)
  expect(performance.now() - beganMs).toBeLessThan(6_000)
  expect(await delivered).not.toBe(200)
  await silent.close()
  await expectTakenLater(house, Number(new URL(silent.url).port))
})

test.each([
  [{ secret: undefined }, /webhooks\.payments: secretEnv is missing/],
  [{ secretEnv: 'NOT_SET_ANYWHERE' }, /NOT_SET_ANYWHERE is not set/],
  [{ target: 'file:///etc/passwd' }, /webhooks\.payments: target is no http or https URL/],
  [{ source: 'acme' }, /webhooks\.payments: source is .*acme/],
  [{ traget: 'x' }, /webhooks\.payments has .*traget/],
])('a webhook with %j is refused at the start, by name', async (more, reason) => {
  await expect(serveHook(openHouse(), 'http://127.0.0.1:1', more)).rejects.toThrow(reason)
})
