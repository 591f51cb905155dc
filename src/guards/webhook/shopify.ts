/**
 * Shopify. Its library comes with a whole client and a session layer, so this is node:crypto. Only the body is
 * signed: shop, topic, event id and time are not. One event id can come under several topics.
 */
import { onlyKnown } from '../../core/known.js'
import { intentKey } from '../../key/index.js'
import { type DedupBy, readDedup } from './dedup.js'
import { anyOf, digestOf, mac, same } from './mac.js'
import { readSecret, type Secret } from './secret.js'
import { malformed, MIB, parseJson, refused, type Source } from './source.js'

export interface ShopifyOptions {
  /** The app's client secret. */
  readonly secret: Secret
  /** As for `github`: by Shopify's event id (default), or by the signed bytes. */
  readonly dedupBy?: DedupBy
}

const SIGNATURE = /^[A-Za-z0-9+/]{43}=$/
const PART = /^[\x21-\x7e]{1,100}$/

export function shopify<P = unknown>(options: ShopifyOptions): Source<P> {
  onlyKnown(options, ['secret', 'dedupBy'], 'shopify')
  const secretsOf = readSecret('shopify', options?.secret)
  const dedupBy = readDedup('shopify', options.dedupBy)
  return {
    name: 'shopify',
    // Shopify hangs up after five seconds.
    waitMs: 3_500,
    maxBytes: 5 * MIB,
    async verify({ url, headers, body, text }) {
      const signature = headers.get('x-shopify-hmac-sha256')
      if (signature === null || !SIGNATURE.test(signature))
        return refused('x-shopify-hmac-sha256 is malformed')
      const secrets = await secretsOf({ url, headers })
      const isSigned = anyOf(secrets, (secret) => same(signature, mac('sha256', secret, [body], 'base64')))
      if (!isSigned) return refused('the signature fits no secret')
      const payload = parseJson(text)
      const digest = digestOf(body)
      const id = dedupBy === 'body' ? digest : eventId(headers)
      if (id === undefined || payload === undefined) {
        return malformed('x-shopify-shop-domain, -topic or -event-id is missing, or the body is no JSON')
      }
      const type = headers.get('x-shopify-topic') ?? undefined
      return { kind: 'event', id, type, payload: payload as P, identity: { body: digest } }
    },
  }
}

function eventId(headers: Headers): string | undefined {
  const parts = ['shop-domain', 'topic', 'event-id'].map((part) => headers.get(`x-shopify-${part}`) ?? '')
  if (!parts.every((part) => PART.test(part))) return undefined
  const [shop = '', topic = '', id = ''] = parts
  // A key has 255 characters; names that do not fit are hashed.
  const fits = encodeURIComponent(parts.join('')).length <= 253
  return fits ? intentKey`${shop}:${topic}:${id}` : digestOf(JSON.stringify(parts))
}
