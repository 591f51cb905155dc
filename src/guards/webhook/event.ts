/** A delivery whose signature held: what handlers, resolvers and the force path get to see. */
import type { Signed } from './source.js'

export interface WebhookEvent<P = unknown> {
  /** The vendor's id of the event: the same in every redelivery. */
  readonly id: string
  readonly type: string | undefined
  /** The parsed body; undefined where the vendor may send something that is not JSON, and did. */
  readonly payload: P
  /** The bytes that were signed. */
  readonly raw: Uint8Array
  /** As they came. Some vendors sign the body only: see the vendor's row in docs/webhook.md before you trust one. */
  readonly headers: Headers
  readonly url: string
  readonly source: string
  readonly endpoint: string | undefined
  /** Set when this is a deliberate repetition. */
  readonly forced?: ForceOrder
}

/** A deliberate redelivery: who wants it, why, and what this repetition is called, so that it happens once too. */
export interface ForceOrder {
  readonly run: string
  readonly by: string
  readonly why: string
}

export function eventOf<P>(
  signed: Signed<P>,
  from: Pick<WebhookEvent<P>, 'raw' | 'headers' | 'url' | 'source' | 'endpoint'>,
): WebhookEvent<P> {
  const { id, type, payload } = signed
  return { id, type, payload, ...from }
}
