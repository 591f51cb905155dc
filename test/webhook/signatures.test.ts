/** What is believed: deliveries signed by the vendors' own libraries. What is not: everything else, and unseen. */
import { describe, expect, test } from 'vitest'
import {
  github,
  hmac,
  shopify,
  slack,
  standardWebhooks,
  stripe,
  webhook,
} from '../../src/guards/webhook/index.js'
import { bench, told } from './bench.js'
import { deliver, type Sent, VENDORS, type Vendor } from './vendors.js'

const MINUTE = 60_000

describe.each(VENDORS)('$name', (vendor) => {
  function open() {
    const { ibid, store, effects, writes } = bench()
    const reasons: string[] = []
    const hook = webhook(ibid, {
      source: vendor.source(vendor.secret),
      handle: ({ id }) => void effects.push(id),
      onRefused: (reason) => reasons.push(reason),
    })
    return { ibid, store, effects, writes, hook, reasons }
  }

  async function refusal(
    sent: Sent,
  ): Promise<{ readonly body: object; readonly reason: string | undefined }> {
    const { hook, effects, writes, ibid, reasons } = open()
    const { status, body, headers } = await told(hook(await deliver(vendor, sent)))
    expect(status).toBe(401)
    expect(headers.get('content-type')).toBe('application/problem+json')
    expect(effects).toEqual([])
    expect(writes()).toBe(0)
    expect((await ibid.list()).receipts).toEqual([])
    expect(reasons).toHaveLength(1)
    return { body, reason: reasons[0] }
  }

  test('[R41] what the vendor signed is handled', async () => {
    const { hook, effects, ibid } = open()
    const { status, body } = await told(hook(await deliver(vendor)))
    expect(status).toBe(200)
    // Slack shows what is in an answer.
    expect(body).toEqual(vendor.name === 'slack' ? { text: '' } : { received: true, outcome: 'handled' })
    expect(effects).toHaveLength(1)
    const { receipts } = await ibid.list({ scope: `hook:${vendor.name}` })
    expect(receipts.map(({ state, windowMs }) => [state, windowMs])).toEqual([['succeeded', 72 * 3_600_000]])
  })

  test('[R41] one flipped bit, anywhere in the body, is refused before anything is written', async () => {
    const { hook, effects, writes } = open()
    const bytes = Buffer.from(vendor.body('evt_1', { note: 'naïve ✓' }))
    const body = bytes.toString()
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const tampered = Uint8Array.from(bytes)
      tampered[bit >> 3] = (tampered[bit >> 3] as number) ^ (1 << (bit & 7))
      const { status } = await hook(await deliver(vendor, { body, tampered }))
      expect(status, `bit ${bit}`).toBe(401)
    }
    expect(effects).toEqual([])
    expect(writes()).toBe(0)
    // And the body that was signed is still good.
    expect((await hook(await deliver(vendor, { body }))).status).toBe(200)
  })

  test('[R41] a wrong secret is refused before anything is written', async () => {
    await refusal({ secret: vendor.otherSecret })
  })

  test('[R41] a re-serialised body is refused before anything is written', async () => {
    const body = vendor.body('evt_1')
    const tampered = JSON.stringify(JSON.parse(body))
    expect(tampered).not.toBe(body)
    await refusal({ body, tampered })
  })

  test('[R41] a byte order mark, or bytes that a decoder would repair, do not pass for the body', async () => {
    const body = vendor.body('evt_1', { note: '\ufffd' })
    await refusal({ body, tampered: Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(body)]) })
    const at = Buffer.from(body).indexOf(Buffer.from('\ufffd'))
    const torn = Buffer.concat([
      Buffer.from(body).subarray(0, at),
      Buffer.from([0xff]),
      Buffer.from(body).subarray(at + 3),
    ])
    expect(torn.toString()).toBe(body)
    await refusal({ body, tampered: torn })
  })

  test('an empty body, and no signature at all, are refused', async () => {
    await refusal({ tampered: '' })
    const { hook, writes } = open()
    const bare = new Request('http://hooks.test/in', { method: 'POST', body: vendor.body('evt_1') })
    expect((await hook(bare)).status).toBe(401)
    expect(writes()).toBe(0)
  })

  test('whoever is not believed is told the same, whatever was wrong', async () => {
    const refusals = await Promise.all([
      refusal({ secret: vendor.otherSecret }),
      refusal({ tampered: 'x' }),
      ...(vendor.timed ? [refusal({ atMs: Date.now() - 60 * MINUTE })] : []),
    ])
    const [first, ...others] = refusals.map(({ body }) => body)
    for (const other of others) expect(other).toEqual(first)
    expect(first).toMatchObject({ code: 'SIGNATURE_REFUSED', status: 401, retriable: false })
    expect(JSON.stringify(first)).not.toMatch(/secret|timestamp|tolerance/i)
  })

  test('secrets rotate: every one that is valid is believed, a retired one no longer', async () => {
    const { ibid } = bench()
    let effects = 0
    const both = webhook(ibid, {
      source: vendor.source([vendor.otherSecret, vendor.secret]),
      handle: () => void effects++,
    })
    expect((await both(await deliver(vendor, { id: 'evt_1' }))).status).toBe(200)
    const next = { id: 'evt_2', secret: vendor.otherSecret, body: vendor.body('evt_2', { n: 2 }) }
    expect((await both(await deliver(vendor, next))).status).toBe(200)
    const moved = webhook(ibid, {
      endpoint: 'moved',
      source: vendor.source(() => Promise.resolve([vendor.otherSecret])),
      handle: () => void effects++,
    })
    expect((await moved(await deliver(vendor, { id: 'evt_3' }))).status).toBe(401)
    expect((await moved(await deliver(vendor, { id: 'evt_3', secret: vendor.otherSecret }))).status).toBe(200)
    expect(effects).toBe(3)
  })

  test('no secret for this delivery means that nobody is believed', async () => {
    const { ibid, writes } = bench()
    const hook = webhook(ibid, { source: vendor.source(() => undefined), handle: () => undefined })
    expect((await hook(await deliver(vendor))).status).toBe(401)
    expect(writes()).toBe(0)
  })

  test.each([[''], [[]], [' secret'], [['good', '']], [Array.from({ length: 9 }, () => vendor.secret)]])(
    'secret %j is refused at the start',
    (secret) => {
      expect(() => vendor.source(secret)).toThrow(/the signing secret of/)
    },
  )
})

test.each<[string, (options: never) => unknown]>([
  ['stripe', stripe],
  ['github', github],
  ['slack', slack],
  ['shopify', shopify],
  ['standardWebhooks', standardWebhooks],
  ['hmac', hmac],
])('a misspelt option of %s is refused at the start, by name', (name, source) => {
  const whole = { name: 'acme-pay', secret: 'whsec_c2VjcmV0', header: 'x-signature', id: { json: 'id' } }
  const given = name === 'hmac' ? whole : { secret: whole.secret }
  expect(() => source(given as never)).not.toThrow()
  expect(() => source({ ...given, tolerence: '1s' } as never)).toThrow(
    `tolerence is not an option of ${name}`,
  )
})

describe.each(VENDORS.filter(({ timed }) => timed))(
  '$name, whose timestamps are signed',
  (vendor: Vendor) => {
    test.each([
      ['five minutes old', -5 * MINUTE + 2_000, 200],
      ['a second older', -5 * MINUTE - 2_000, 401],
      ['five minutes ahead', 5 * MINUTE - 2_000, 200],
      ['a second further ahead', 5 * MINUTE + 2_000, 401],
    ])('[R41] %s', async (_name, offsetMs, expected) => {
      const { ibid, writes } = bench()
      const nowMs = 1_800_000_000_000
      const hook = webhook(ibid, {
        source: vendor.source(vendor.secret),
        handle: () => undefined,
        now: () => nowMs,
      })
      const { status } = await hook(await deliver(vendor, { atMs: nowMs + offsetMs }))
      expect(status).toBe(expected)
      expect(writes() > 0).toBe(expected === 200)
    })

    test('a timestamp that was moved to now does not fit its signature', async () => {
      const { ibid, writes } = bench()
      const hook = webhook(ibid, { source: vendor.source(vendor.secret), handle: () => undefined })
      const old = await deliver(vendor, { atMs: Date.now() - 60 * MINUTE })
      const now = await deliver(vendor)
      const moved = new Headers(old.headers)
      for (const [name, value] of now.headers) {
        if (/time/.test(name)) moved.set(name, value)
        if (name === 'stripe-signature')
          moved.set(name, value.replace(/v1=.*/, /v1=.*/.exec(old.headers.get(name) ?? '')?.[0] ?? ''))
      }
      const forged = new Request(old.url, { method: 'POST', headers: moved, body: await old.text() })
      expect((await hook(forged)).status).toBe(401)
      expect(writes()).toBe(0)
    })
  },
)
