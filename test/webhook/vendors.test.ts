/** What the vendors publish as examples, and what they send besides plain events. */
import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { github, hmac, slack, standardWebhooks, stripe, webhook } from '../../src/guards/webhook/index.js'
import { bench, told } from './bench.js'
import { deliver, githubVendor, shopifyVendor, slackVendor, stripeVendor } from './vendors.js'

const MINUTE = 60_000

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

  test('[R41] a recording with a second timestamp put before its own is refused', async () => {
    const { ibid, writes } = bench()
    const hook = webhook(ibid, { source: stripe({ secret: stripeVendor.secret }), handle: () => undefined })
    const body = stripeVendor.body('evt_1')
    const signed = async (atMs: number) =>
      (await stripeVendor.headers('evt_1', body, { atMs }))['stripe-signature'] as string
    const [old, now] = [await signed(Date.now() - 60 * MINUTE), await signed(Date.now())]
    const stamp = now.split(',')[0]
    for (const header of [
      `${stamp},${old}`,
      `${old},${stamp}`,
      `${old},${now}`,
      `${now},${old}`,
      `t=1,${now}`,
    ]) {
      const headers = { 'stripe-signature': header }
      expect((await hook(await deliver(stripeVendor, { body, headers }))).status, header).toBe(401)
    }
    expect(writes()).toBe(0)
  })
})
