/**
 * Stripe, on `stripe`'s own verification. Event ids stand inside what is signed. Redeliveries may differ in fields
 * such as `pending_webhooks`, so only what names the event has to be the same.
 */
import type { Duration } from '../../core/duration.js'
import { onlyKnown } from '../../core/known.js'
import { library } from './library.js'
import { anyOf, freshness } from './mac.js'
import { readSecret, type Secret } from './secret.js'
import { malformed, MIB, parseJson, refused, type Source, textAt } from './source.js'

export interface StripeOptions {
  /** The endpoint's `whsec_…`. */
  readonly secret: Secret
  /** Default 5 minutes, to both sides. */
  readonly tolerance?: Duration
}

/** What every event of Stripe has; `stripe<Stripe.Event>({ secret })` has it in full. */
export interface StripeEvent {
  readonly id: string
  readonly type: string
  readonly [field: string]: unknown
}

/** One timestamp, at least one signature. Stripe's own parser takes the last timestamp of several: we take none. */
const HEADER = /^t=(\d{1,12})((?:,v\d+=[0-9a-f]{64}){1,16})$/

const load = library('stripe', () => import('stripe'))

export function stripe<P = StripeEvent>(options: StripeOptions): Source<P> {
  onlyKnown(options, ['secret', 'tolerance'], 'stripe')
  const secretsOf = readSecret('stripe', options?.secret)
  const isFresh = freshness(options.tolerance)
  return {
    name: 'stripe',
    waitMs: 8_000,
    maxBytes: MIB,
    async verify({ url, headers, text, nowMs }) {
      const header = headers.get('stripe-signature')
      const stamp = header === null ? undefined : HEADER.exec(header)?.[1]
      if (header === null || stamp === undefined) return refused('stripe-signature is missing or malformed')
      if (!text) return refused('the body is empty or not UTF-8')
      if (!isFresh(stamp, nowMs)) return refused('the timestamp is outside the tolerance')
      const secrets = await secretsOf({ url, headers })
      const { default: Stripe } = await load()
      const isSigned = anyOf(secrets, (secret) =>
        verifies(Stripe.webhooks.signature as Verifier, text, header, secret),
      )
      if (!isSigned) return refused('no signature fits any secret')
      const payload = parseJson(text)
      const [id, type] = [textAt(payload, 'id'), textAt(payload, 'type')]
      if (id === undefined || type === undefined) return malformed('the event has no id or no type')
      return { kind: 'event', id, type, payload: payload as P, identity: { id, type } }
    },
  }
}

interface Verifier {
  verifyHeader(payload: string, header: string, secret: string, tolerance: number): boolean
}

/** Tolerance 0: the age was looked at above, to both sides and by the clock that the program gave. */
function verifies(verifier: Verifier, text: string, header: string, secret: string): boolean {
  try {
    return verifier.verifyHeader(text, header, secret, 0)
  } catch {
    return false
  }
}
