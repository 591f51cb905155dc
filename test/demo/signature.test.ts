/** The demo signs as Stripe does: Stripe's library believes it, and so does the source for those who have none. */
import { describe, expect, test } from 'vitest'
import { sign, SIGNATURE_HEADER, signedSource } from '../../src/cli/demo/signature.js'
import { Stripe } from 'stripe'

const body = JSON.stringify({ id: 'evt_1', type: 'charge.refunded', data: { object: {} } })
const secret = 'whsec_demo'

function delivery(header: string, text = body) {
  const headers = new Headers(header === '' ? {} : { [SIGNATURE_HEADER]: header })
  return { url: 'http://localhost/', headers, body: Buffer.from(text), text, nowMs: Date.now() }
}

describe.each([
  ["Stripe's library", true],
  ['no library', false],
])('with %s', (_name, hasLibrary) => {
  const source = signedSource(secret, hasLibrary)
  const kindOf = async (header: string, text?: string): Promise<string> =>
    (await source.verify(delivery(header, text))).kind

  test('[R41] what was signed is believed, under one name', async () => {
    expect(source.name).toBe('stripe')
    expect(await source.verify(delivery(sign(body, secret)))).toMatchObject({ kind: 'event', id: 'evt_1' })
    const theirs = Stripe.webhooks.generateTestHeaderString({ payload: body, secret })
    expect(await kindOf(theirs)).toBe('event')
  })

  test('[R41] what was changed, signed by others, old or not signed is not', async () => {
    expect(await kindOf(sign(body, secret), body.replace('evt_1', 'evt_2'))).toBe('refused')
    expect(await kindOf(sign(body, 'whsec_other'))).toBe('refused')
    expect(await kindOf(sign(body, secret, Date.now() - 3_600_000))).toBe('refused')
    expect(await kindOf('')).toBe('refused')
    expect(await kindOf('t=1,v1=zz')).toBe('refused')
  })
})
