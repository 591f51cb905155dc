/**
 * Webhooks signed the way Stripe signs them: `t=<seconds>,v1=<HMAC-SHA256 of "t.body">`. They are verified by Stripe's
 * own library where it is installed; it is an optional peer, and where it is missing the same header is verified by
 * ibid's HMAC source, so that the demo needs nothing beside ibid.
 */
import { createHmac } from 'node:crypto'
import { createRequire } from 'node:module'
import { hmac, type Source, stripe, type StripeEvent } from '../../guards/webhook/index.js'

export const SIGNATURE_HEADER = 'stripe-signature'

export function sign(body: string, secret: string, nowMs = Date.now()): string {
  const seconds = Math.floor(nowMs / 1_000)
  return `t=${seconds},v1=${createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')}`
}

export function signedSource(secret: string, hasLibrary = isInstalled('stripe')): Source<StripeEvent> {
  return hasLibrary ? stripe({ secret }) : withoutLibrary(secret)
}

function withoutLibrary(secret: string): Source<StripeEvent> {
  const [time, signature] = ['x-signed-at', 'x-signature']
  const inner = hmac<StripeEvent>({
    name: 'stripe',
    secret,
    header: signature,
    timestamp: { header: time },
    id: { json: 'id' },
  })
  return {
    ...inner,
    async verify(arrived) {
      const [, at = '', v1 = ''] =
        /^t=(\d+),v1=([0-9a-f]+)$/.exec(arrived.headers.get(SIGNATURE_HEADER) ?? '') ?? []
      return await inner.verify({ ...arrived, headers: new Headers({ [time]: at, [signature]: v1 }) })
    },
  }
}

function isInstalled(name: string): boolean {
  try {
    createRequire(import.meta.url).resolve(name)
    return true
  } catch {
    return false
  }
}
