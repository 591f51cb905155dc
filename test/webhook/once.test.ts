/** One event, one effect: duplicates, storms in one process, and receipts that do not run into each other. */
import { describe, expect, test } from 'vitest'
import { github, hmac, shopify, webhook, type WebhookEvent } from '../../src/guards/webhook/index.js'
import { createIbid } from '../../src/index.js'
import { memoryStore } from '../../src/stores/memory/index.js'
import { bench, gate, told } from './bench.js'
import {
  deliver,
  githubVendor,
  shopifyVendor,
  slackVendor,
  standardVendor,
  stripeVendor,
  VENDORS,
} from './vendors.js'

describe.each(VENDORS)('$name', (vendor) => {
  test('[R41] a duplicate is answered 200 and touches nothing', async () => {
    const { ibid, effects } = bench()
    const hook = webhook(ibid, {
      source: vendor.source(vendor.secret),
      handle: ({ id }) => void effects.push(id),
    })
    expect((await hook(await deliver(vendor))).status).toBe(200)
    for (let i = 0; i < 3; i++) {
      const { status, headers } = await told(hook(await deliver(vendor)))
      expect(status).toBe(200)
      expect(headers.get('idempotency-replayed')).toBe('true')
    }
    expect(effects).toHaveLength(1)
  })

  test('[R41] [R60] fifty deliveries at once: one effect, all answered 200 when it is done', async () => {
    const { ibid, effects } = bench()
    const running = gate()
    const hook = webhook(ibid, {
      source: vendor.source(vendor.secret),
      handle: async ({ id }) => {
        effects.push(id)
        await running.opened
      },
    })
    const answers = await Promise.all(Array.from({ length: 50 }, () => deliver(vendor))).then((requests) =>
      requests.map((request) => hook(request)),
    )
    await expect.poll(() => effects).toHaveLength(1)
    running.open()
    const statuses = (await Promise.all(answers)).map(({ status }) => status)
    expect(statuses).toEqual(Array.from({ length: 50 }, () => 200))
    expect(effects).toHaveLength(1)
  })

  test('[R6] a duplicate of one that runs longer than the vendor listens is asked to come again', async () => {
    const { ibid, effects } = bench()
    const running = gate()
    const options = {
      source: vendor.source(vendor.secret),
      wait: 0,
      handle: async ({ id }: WebhookEvent) => {
        effects.push(id)
        await running.opened
      },
    }
    const hook = webhook(ibid, options)
    const first = hook(await deliver(vendor))
    await expect.poll(() => effects).toHaveLength(1)
    const { status, body, headers } = await told(hook(await deliver(vendor)))
    expect([status, body['code'], body['retriable']]).toEqual([409, 'RETRY_IN_FLIGHT', true])
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    const accepting = webhook(ibid, { ...options, inFlight: 'accept' })
    expect((await accepting(await deliver(vendor))).status).toBe(202)
    running.open()
    expect((await first).status).toBe(200)
    expect((await hook(await deliver(vendor))).status).toBe(200)
    expect(effects).toHaveLength(1)
  })
})

describe('what has to be the same when an id comes again', () => {
  test('Stripe and Slack put the id into what they sign: their other fields may move', async () => {
    const { ibid, effects } = bench()
    for (const vendor of [stripeVendor, slackVendor]) {
      const hook = webhook(ibid, {
        source: vendor.source(vendor.secret),
        handle: ({ id }) => void effects.push(id),
      })
      expect((await hook(await deliver(vendor))).status).toBe(200)
      const later = { body: vendor.body('evt_1', { pending_webhooks: 0 }) }
      expect((await hook(await deliver(vendor, later))).status).toBe(200)
    }
    expect(effects).toHaveLength(2)
  })

  test.each([githubVendor, shopifyVendor, standardVendor])(
    '[R4] $name: an id that comes with another body is neither handled nor waved through',
    async (vendor) => {
      const { ibid, effects } = bench()
      const errors: unknown[] = []
      const hook = webhook(ibid, {
        source: vendor.source(vendor.secret),
        handle: ({ id }) => void effects.push(id),
        onError: (error) => errors.push((error as { code: string }).code),
      })
      expect((await hook(await deliver(vendor))).status).toBe(200)
      const other = { body: vendor.body('evt_1', { amount: 2 }) }
      const { status, body } = await told(hook(await deliver(vendor, other)))
      expect([status, body['code']]).toEqual([422, 'KEY_REUSED'])
      expect(effects).toHaveLength(1)
      expect(errors).toEqual(['KEY_REUSED'])
    },
  )

  test.each([
    ['github', githubVendor, github],
    ['shopify', shopifyVendor, shopify],
  ] as const)(
    '%s by body: a recorded body under another id is a duplicate',
    async (_name, vendor, source) => {
      const { ibid, effects } = bench()
      const { secret } = vendor
      const byBody = webhook(ibid, {
        source: source({ secret, dedupBy: 'body' }),
        handle: ({ id }) => void effects.push(id),
      })
      for (const id of ['d1', 'd2', 'd3'])
        expect((await byBody(await deliver(vendor, { id }))).status).toBe(200)
      expect(effects).toHaveLength(1)
    },
  )

  test('Shopify: one event id under two topics, or of two shops, is two events', async () => {
    const { ibid, effects } = bench()
    const hook = webhook(ibid, {
      source: shopifyVendor.source(shopifyVendor.secret),
      handle: ({ type }) => void effects.push(String(type)),
    })
    const send = async (headers: Record<string, string>) => hook(await deliver(shopifyVendor, { headers }))
    for (const headers of [
      { 'x-shopify-topic': 'orders/create' },
      { 'x-shopify-topic': 'orders/paid' },
      {
        'x-shopify-topic': 'orders/paid',
        'x-shopify-shop-domain': 'x'.repeat(90),
        'x-shopify-event-id': '/'.repeat(99),
      },
    ]) {
      expect((await send(headers)).status).toBe(200)
      expect((await send(headers)).headers.get('idempotency-replayed')).toBe('true')
    }
    expect(effects).toEqual(['orders/create', 'orders/paid', 'orders/paid'])
  })
})

const pathOf = ({ url }: { url: string }): string => new URL(url).pathname

const of = (account?: string): Promise<Request> =>
  deliver(stripeVendor, { body: stripeVendor.body('evt_1', { account }) })

describe('isolation', () => {
  test('[R1] the same id of two tenants, two endpoints, two vendors is so many events', async () => {
    const { ibid } = bench()
    const seen: string[] = []
    const body = '{"id":"evt_1","type":"t","event_id":"evt_1"}'
    for (const vendor of VENDORS) {
      for (const tenant of ['a', 'b']) {
        for (const endpoint of ['one', 'two']) {
          const hook = webhook(ibid, {
            source: vendor.source(vendor.secret),
            endpoint,
            tenant,
            handle: (event, attempt) =>
              void seen.push(`${attempt.tenant} ${attempt.scope} ${event.endpoint}`),
          })
          for (let i = 0; i < 2; i++) expect((await hook(await deliver(vendor, { body }))).status).toBe(200)
        }
      }
    }
    expect(new Set(seen).size).toBe(VENDORS.length * 4)
    expect(seen).toHaveLength(VENDORS.length * 4)
  })

  test("[R1] the tenant is the resolver's; an event that is nobody's does not become somebody's", async () => {
    const { ibid, writes } = bench()
    const tenants: string[] = []
    const hook = webhook(ibid, {
      source: stripeVendor.source(stripeVendor.secret),
      tenant: ({ payload }) => Promise.resolve((payload as { account?: string }).account),
      handle: (_event, { tenant }) => void tenants.push(tenant),
    })
    const { status, body } = await told(hook(await of()))
    expect([status, body['code']]).toEqual([422, 'UNKNOWN_TENANT'])
    expect(writes()).toBe(0)
    for (const account of ['acct_1', 'acct_2', 'acct_1'])
      expect((await hook(await of(account))).status).toBe(200)
    expect(tenants).toEqual(['acct_1', 'acct_2'])
  })

  test('a secret per tenant: one tenant cannot sign for another', async () => {
    const { ibid, writes } = bench()
    const secrets: Record<string, string> = { '/a': 'secret-a', '/b': 'secret-b' }
    const hook = webhook(ibid, {
      source: stripeVendor.source((delivery) => secrets[pathOf(delivery)]),
      tenant: (event) => pathOf(event).slice(1),
      handle: () => undefined,
    })
    const send = async (url: string, secret: string) =>
      (await hook(await deliver(stripeVendor, { url, secret }))).status
    expect(await send('http://h/b', 'secret-a')).toBe(401)
    expect(await send('http://h/c', 'secret-a')).toBe(401)
    expect(writes()).toBe(0)
    expect(await send('http://h/a', 'secret-a')).toBe(200)
    expect(await send('http://h/b', 'secret-b')).toBe(200)
  })

  test('[R1] without any tenant nothing is handled, and the vendor keeps the event', async () => {
    const ibid = createIbid({ store: memoryStore(), housekeeping: false })
    const errors: unknown[] = []
    const hook = webhook(ibid, {
      source: stripeVendor.source(stripeVendor.secret),
      handle: () => expect.unreachable(),
      onError: (error) => errors.push(error),
    })
    expect((await hook(await deliver(stripeVendor))).status).toBe(503)
    expect(errors).toMatchObject([{ code: 'INVALID_INTENT' }])
    await ibid.close()
  })

  test('two webhooks that share receipts unawares are told so; named ones are not', async () => {
    const { ibid } = bench()
    const warnings: unknown[] = []
    const listen = (warning: Error & { code?: string }): void => void warnings.push(warning.code)
    process.on('warning', listen)
    const make = (endpoint?: string) =>
      webhook(ibid, {
        source: stripeVendor.source(stripeVendor.secret),
        ...(endpoint === undefined ? {} : { endpoint }),
        handle: () => undefined,
      })
    make('billing')
    make('mail')
    make()
    make()
    await expect.poll(() => warnings).toEqual(['IBID_SHARED_ENDPOINT'])
    process.off('warning', listen)
  })
})

const handle = (): number => 1
const source = stripeVendor.source('s')

test.each([
  [{}, /no source/],
  [{ source }, /handle, transact and enqueue/],
  [{ source, handle, enqueue: handle }, /handle, transact and enqueue/],
  [{ source: { ...source, name: 'A b' }, handle }, /source/],
  [{ source, handle, endpoint: 'a:b' }, /endpoint/],
  [{ source, handle, window: 'soon' }, /window/],
  [{ source, handle, recovery: 'maybe' }, /recovery/],
  [{ source, handle, maxBytes: 0 }, /maxBytes/],
  [{ source, handle, tenant: '' }, /tenant/],
  [{ source, handle, tenent: 'acme' }, /tenent is not an option/],
])('a wrong setting is refused at the start: %#', (options, message) => {
  const { ibid } = bench()
  expect(() => webhook(ibid, options as never)).toThrow(message)
})

const secret = 'shh'
const signed = { name: 'acme-pay', secret, header: 'x-signature', id: { json: 'id' } }

test.each([
  ['a tolerance for which there is no timestamp', () => hmac({ ...signed, tolerance: '1m' }), /no timestamp/],
  ['a misspelt dedupBy of GitHub', () => github({ secret, dedupBy: 'bytes' as never }), /dedupBy of github/],
  [
    'a misspelt dedupBy of Shopify',
    () => shopify({ secret, dedupBy: 'bytes' as never }),
    /dedupBy of shopify/,
  ],
])('[R41] %s would make less be checked than was asked for: refused at the start', (_what, make, message) => {
  expect(make).toThrow(message)
})
