/**
 * Standard Webhooks (Svix, and everybody who signs as it does), on `standardwebhooks`. Id, timestamp and body are
 * signed together. The library makes the signature; we compare it, because its tolerance and its clock are fixed.
 */
import type { Duration } from '../../core/duration.js'
import { onlyKnown } from '../../core/known.js'
import { library } from './library.js'
import { anyOf, digestOf, freshness, same } from './mac.js'
import { readSecret, type Secret } from './secret.js'
import { MIB, parseJson, refused, type Source, textAt } from './source.js'

export interface StandardWebhooksOptions {
  /** `whsec_…`, or the base64 behind it. */
  readonly secret: Secret
  /** Default 5 minutes, to both sides. */
  readonly tolerance?: Duration
  /** Which vendor it is, so that two of them never share receipts. Default `standard-webhooks`. */
  readonly name?: string
}

const SECRET = /^(?:whsec_)?(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
/** `v1,…` among others, as senders that rotate their secrets put several there. */
const SIGNATURES = /^(?:v1a?,[A-Za-z0-9+/=]{4,200} ?){1,16}$/

const load = library('standardwebhooks', () => import('standardwebhooks'))

export function standardWebhooks<P = unknown>(options: StandardWebhooksOptions): Source<P> {
  onlyKnown(options, ['secret', 'tolerance', 'name'], 'standardWebhooks')
  const name = options?.name ?? 'standard-webhooks'
  const secretsOf = readSecret(name, options?.secret, (one) =>
    one !== 'whsec_' && SECRET.test(one) ? undefined : 'is not whsec_ and base64',
  )
  const isFresh = freshness(options.tolerance)
  return {
    name,
    waitMs: 10_000,
    maxBytes: MIB,
    async verify({ url, headers, body, text, nowMs }) {
      const [id, stamp, signatures] = signedHeaders(headers)
      if (!id || !signatures || !SIGNATURES.test(signatures)) {
        return refused('webhook-id or webhook-signature is missing or malformed')
      }
      if (text === undefined) return refused('the body is not UTF-8')
      if (!stamp || !isFresh(stamp, nowMs))
        return refused('the timestamp is missing or outside the tolerance')
      const secrets = await secretsOf({ url, headers })
      const { Webhook } = await load()
      const given = signatures.split(' ')
      const signedAt = new Date(Number(stamp) * 1_000)
      const isSigned = anyOf(secrets, (secret) => {
        const expected = new Webhook(secret).sign(id, signedAt, text)
        return anyOf(given, (one) => same(one, expected))
      })
      if (!isSigned) return refused('no signature fits any secret')
      const payload = parseJson(text)
      const identity = { body: digestOf(body) }
      return { kind: 'event', id, type: textAt(payload, 'type'), payload: payload as P, identity }
    },
  }
}

/** All three under the standard's names, or all three under Svix's older ones; never mixed. */
function signedHeaders(headers: Headers): (string | null)[] {
  const prefix = headers.has('webhook-signature') ? 'webhook' : 'svix'
  return ['id', 'timestamp', 'signature'].map((part) => headers.get(`${prefix}-${part}`))
}
