/** What is believed: deliveries signed by the vendors' own libraries. What is not: everything else, and unseen. */
import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { github, hmac, slack, standardWebhooks, stripe, webhook } from '../../src/guards/webhook/index.js'
import { bench, told } from './bench.js'
import {
  deliver,
  githubVendor,
  type Sent,
  shopifyVendor,
  slackVendor,
  stripeVendor,
  VENDORS,
  type Vendor,
} from './vendors.js'

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
    if (vendor.name !== 'slack') expect(body).toEqual({ received: true, outcome: 'handled' })
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

describe('examples that the vendors publish', () => {
  test('Slack', async () => {
    const body =
      'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c'
    const headers = {
      'x-slack-request-timestamp': '1531420618',
      'x-slack-signature': 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
      'content-type': 'application/x-www-form-urlencoded',
    }
    const source = slack({ secret: slackVendor.secret })
    const bytes = Buffer.from(body)
    const arrived = {
      url: 'http://h',
      headers: new Headers(headers),
      body: bytes,
      text: body,
      nowMs: 1_531_420_618_000,
    }
    expect(await source.verify(arrived)).toMatchObject({ kind: 'event', type: '/webhook-collect' })
    expect(await source.verify({ ...arrived, nowMs: 1_531_421_618_000 })).toMatchObject({ kind: 'refused' })
  })

  test('GitHub', async () => {
    const headers = new Headers({
      'x-github-delivery': 'd1',
      'x-hub-signature-256': 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
    })
    const text = 'Hello, World!'
    const arrived = { url: 'http://h', headers, body: Buffer.from(text), text, nowMs: 0 }
    // Believed, and then found not to be JSON.
    expect(await github({ secret: githubVendor.secret }).verify(arrived)).toMatchObject({ kind: 'malformed' })
  })

  test('Svix', async () => {
    const headers = new Headers({
      'svix-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'svix-timestamp': '1614265330',
      'svix-signature':
        'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE= v1,bm9ldHUjKzFob2VudXRob2VodWUzMjRvdWVvdW9ldQo=',
    })
    const text = '{"test": 2432232314}'
    const source = standardWebhooks({ secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' })
    const arrived = { url: 'http://h', headers, body: Buffer.from(text), text, nowMs: 1_614_265_330_000 }
    expect(await source.verify(arrived)).toMatchObject({ kind: 'event', id: 'msg_p5jXN8AQM9LWM0D4loKWxJek' })
  })
})

describe('what else vendors send', () => {
  test("Slack's url_verification is answered, and handled by nobody", async () => {
    const { ibid, writes } = bench()
    const hook = webhook(ibid, {
      source: slackVendor.source(slackVendor.secret),
      handle: () => Promise.reject(new RangeError('not for a handler')),
    })
    const body = JSON.stringify({ type: 'url_verification', challenge: '3eZbrw1a<b>' })
    const answer = await hook(await deliver(slackVendor, { body }))
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toMatch(/^text\/plain/)
    expect(await answer.text()).toBe('3eZbrw1a<b>')
    const forged = await hook(await deliver(slackVendor, { body, secret: 'somebody else' }))
    expect(forged.status).toBe(401)
    expect(writes()).toBe(0)
  })

  test('GitHub as a form', async () => {
    const { ibid } = bench()
    const seen: unknown[] = []
    const hook = webhook(ibid, {
      source: github({ secret: githubVendor.secret }),
      handle: ({ payload, type }) => void seen.push(type, payload),
    })
    const body = `payload=${encodeURIComponent('{"zen":"once"}')}`
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    expect((await hook(await deliver(githubVendor, { body, headers }))).status).toBe(200)
    expect(seen).toEqual(['issues', { zen: 'once' }])
  })

  test('hmac over other parts, in another algorithm and encoding', async () => {
    const { ibid } = bench()
    const seen: unknown[] = []
    const hook = webhook(ibid, {
      source: hmac({
        name: 'odd',
        secret: 'k',
        header: 'x-sig',
        algorithm: 'sha512',
        encoding: 'base64url',
        timestamp: { header: 'x-ms', unit: 'ms' },
        id: { header: 'x-id' },
        signed: ({ headers, body, timestamp }) => [`${headers.get('x-id')}|${timestamp}|`, body],
      }),
      handle: ({ id, raw }) => void seen.push(id, Buffer.from(raw).toString('hex')),
    })
    const stamp = String(Date.now())
    const bytes = Buffer.from([0, 255, 128])
    const sig = createHmac('sha512', 'k').update(`e1|${stamp}|`).update(bytes).digest('base64url')
    const send = (id: string) =>
      hook(
        new Request('http://h', {
          method: 'POST',
          body: bytes,
          headers: { 'x-sig': sig, 'x-ms': stamp, 'x-id': id },
        }),
      )
    expect((await send('e2')).status).toBe(401)
    expect((await send('e1')).status).toBe(200)
    expect(seen).toEqual(['e1', '00ff80'])
  })

  test.each([
    ['without an id', stripeVendor, JSON.stringify({ type: 'x' })],
    ['with an id of 256 characters', stripeVendor, stripeVendor.body('e'.repeat(256))],
    ['with a control character in its id', stripeVendor, stripeVendor.body('evt_\u0007')],
    ['with an id that is no text', stripeVendor, stripeVendor.body('x', { id: { $gt: '' } })],
    ['that is no JSON', stripeVendor, 'hello'],
    ['that is no JSON', shopifyVendor, 'hello'],
    ['that is an array', slackVendor, '[1]'],
  ])('signed, but %s: 422, and nothing is written', async (_name, vendor, body) => {
    const { ibid, writes } = bench()
    const hook = webhook(ibid, { source: vendor.source(vendor.secret), handle: () => undefined })
    const { status, body: said } = await told(hook(await deliver(vendor, { body })))
    expect([status, said['code']]).toEqual([422, 'INVALID_EVENT'])
    expect(writes()).toBe(0)
  })

  test('two timestamps in one header are refused, whichever is good', async () => {
    const { ibid } = bench()
    const hook = webhook(ibid, { source: stripe({ secret: stripeVendor.secret }), handle: () => undefined })
    const good = (await stripeVendor.headers('evt_1', stripeVendor.body('evt_1')))['stripe-signature']
    for (const header of [`t=1,${good}`, `${good},t=1`]) {
      expect(
        (await hook(await deliver(stripeVendor, { headers: { 'stripe-signature': header } }))).status,
      ).toBe(401)
    }
  })
})
