/**
 * The vendors' side of a webhook: one event, signed as each vendor signs it, with its own library where it has one
 * for Node. Slack and Shopify have none that only signs; theirs follows the published algorithm, whose published
 * example is checked as well.
 */
import { createHmac } from 'node:crypto'
import { sign } from '@octokit/webhooks-methods'
import { Webhook } from 'standardwebhooks'
import { Stripe } from 'stripe'
import {
  github,
  hmac,
  type Secret,
  shopify,
  slack,
  type Source,
  standardWebhooks,
  stripe,
} from '../../src/guards/webhook/index.js'

export interface SignOptions {
  readonly secret?: string
  /** When it was signed. Default: now. */
  readonly atMs?: number
}

export interface Vendor {
  readonly name: string
  readonly secret: string
  readonly otherSecret: string
  /** Is the time of signing under the signature? */
  readonly timed: boolean
  /** Is the event's id under the signature? */
  readonly idSigned: boolean
  source(secret: Secret): Source
  body(id: string, data?: object): string
  headers(id: string, body: string, options?: SignOptions): Promise<Record<string, string>>
}

const JSON_TYPE = { 'content-type': 'application/json' }
const seconds = (atMs: number): number => Math.floor(atMs / 1_000)
const hex = (secret: string, text: string): string => createHmac('sha256', secret).update(text).digest('hex')

const stripeVendor: Vendor = {
  name: 'stripe',
  secret: 'whsec_stripe_one',
  otherSecret: 'whsec_stripe_two',
  timed: true,
  idSigned: true,
  source: (secret) => stripe({ secret }),
  body: (id, data = {}) =>
    JSON.stringify(
      {
        id,
        object: 'event',
        type: 'charge.refunded',
        pending_webhooks: 1,
        data: { object: { amount: 14_000 } },
        ...data,
      },
      null,
      2,
    ),
  headers: async (_id, body, { secret = stripeVendor.secret, atMs = Date.now() } = {}) => ({
    ...JSON_TYPE,
    'stripe-signature': await Stripe.webhooks.generateTestHeaderStringAsync({
      payload: body,
      secret,
      timestamp: seconds(atMs),
    }),
  }),
}

const githubVendor: Vendor = {
  name: 'github',
  secret: "It's a Secret to Everybody",
  otherSecret: 'another one',
  timed: false,
  idSigned: false,
  source: (secret) => github({ secret }),
  body: (_id, data = {}) => JSON.stringify({ action: 'opened', issue: { number: 1347 }, ...data }, null, 1),
  headers: async (id, body, { secret = githubVendor.secret } = {}) => ({
    ...JSON_TYPE,
    'x-github-event': 'issues',
    'x-github-delivery': id,
    'x-hub-signature-256': await sign(secret, body),
  }),
}

function standardHeaders(prefix: string): Vendor['headers'] {
  return async (id, body, { secret = standardVendor.secret, atMs = Date.now() } = {}) => ({
    ...JSON_TYPE,
    [`${prefix}-id`]: id,
    [`${prefix}-timestamp`]: String(seconds(atMs)),
    [`${prefix}-signature`]: new Webhook(secret).sign(id, new Date(atMs), body),
  })
}

const standardVendor: Vendor = {
  name: 'standard-webhooks',
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  otherSecret: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD',
  timed: true,
  idSigned: true,
  source: (secret) => standardWebhooks({ secret }),
  body: (_id, data = {}) => JSON.stringify({ type: 'invoice.paid', data: { invoice: 7 }, ...data }, null, 2),
  headers: standardHeaders('webhook'),
}

const svixVendor: Vendor = {
  ...standardVendor,
  name: 'svix',
  source: (secret) => standardWebhooks({ secret, name: 'svix' }),
  headers: standardHeaders('svix'),
}

const slackVendor: Vendor = {
  name: 'slack',
  secret: '8f742231b10e8888abcd99yyyzzz85a5',
  otherSecret: '0f742231b10e8888abcd99yyyzzz85a5',
  timed: true,
  idSigned: true,
  source: (secret) => slack({ secret }),
  body: (id, data = {}) =>
    JSON.stringify(
      { type: 'event_callback', event_id: id, event: { type: 'app_mention' }, ...data },
      null,
      1,
    ),
  headers: async (_id, body, { secret = slackVendor.secret, atMs = Date.now() } = {}) => ({
    ...JSON_TYPE,
    'x-slack-request-timestamp': String(seconds(atMs)),
    'x-slack-signature': `v0=${hex(secret, `v0:${seconds(atMs)}:${body}`)}`,
  }),
}

const shopifyVendor: Vendor = {
  name: 'shopify',
  secret: 'hush',
  otherSecret: 'husk',
  timed: false,
  idSigned: false,
  source: (secret) => shopify({ secret }),
  body: (_id, data = {}) => JSON.stringify({ id: 820_982, total_price: '140.00', ...data }, null, 1),
  headers: async (id, body, { secret = shopifyVendor.secret } = {}) => ({
    ...JSON_TYPE,
    'x-shopify-topic': 'orders/create',
    'x-shopify-shop-domain': 'harbor.myshopify.com',
    'x-shopify-event-id': id,
    'x-shopify-hmac-sha256': createHmac('sha256', secret).update(body).digest('base64'),
  }),
}

const hmacVendor: Vendor = {
  name: 'acme-pay',
  secret: 'generic',
  otherSecret: 'generous',
  timed: true,
  idSigned: true,
  source: (secret) =>
    hmac({
      name: 'acme-pay',
      secret,
      header: 'x-acme-signature',
      prefix: 'sha256=',
      timestamp: { header: 'x-acme-time' },
      id: { json: 'id' },
      type: { json: 'kind' },
    }),
  body: (id, data = {}) => JSON.stringify({ id, kind: 'paid', ...data }, null, 1),
  headers: async (_id, body, { secret = hmacVendor.secret, atMs = Date.now() } = {}) => ({
    ...JSON_TYPE,
    'x-acme-time': String(seconds(atMs)),
    'x-acme-signature': `sha256=${hex(secret, `${seconds(atMs)}.${body}`)}`,
  }),
}

export const VENDORS: readonly Vendor[] = [
  stripeVendor,
  githubVendor,
  standardVendor,
  svixVendor,
  slackVendor,
  shopifyVendor,
  hmacVendor,
]

export { githubVendor, shopifyVendor, slackVendor, standardVendor, stripeVendor }

export interface Sent extends SignOptions {
  readonly id?: string
  /** Sent instead of the body that was signed. */
  readonly tampered?: string | Uint8Array
  readonly body?: string
  readonly headers?: Record<string, string>
  readonly url?: string
}

/** One delivery, as the vendor would make it. */
export async function deliver(vendor: Vendor, sent: Sent = {}): Promise<Request> {
  const { id = 'evt_1', body = vendor.body(id) } = sent
  const headers = { ...(await vendor.headers(id, body, sent)), ...sent.headers }
  return new Request(sent.url ?? 'http://hooks.test/in', {
    method: 'POST',
    headers,
    body: (sent.tampered ?? body) as string,
  })
}
