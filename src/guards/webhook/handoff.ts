/**
 * Handing an event to a queue instead of handling it here. The message carries the event's key, in the header that
 * `ibid/queue` reads, so that an event that was put on the queue twice is still worked on once.
 */
import type { Attempt } from '../../core/policy.js'
import { deriveKey } from '../../key/index.js'
import type { WebhookEvent } from './event.js'

/** The same name as in `ibid/queue`. */
const MESSAGE_KEY_HEADER = 'ibid-message-key'

export interface HandOff<P = unknown> {
  /** The message's key: hand it to brokers that deduplicate themselves as well (`msgID`, `jobId`, …). */
  readonly key: string
  /** Put these on the message. */
  readonly headers: Readonly<Record<string, string>>
  /** The bytes as they came. */
  readonly body: Uint8Array
  readonly event: WebhookEvent<P>
}

export function handOff<P>(event: WebhookEvent<P>, { tenant, scope, key: id }: Attempt): HandOff<P> {
  const key = deriveKey({ tenant, layer: 'webhook', scope, id }, null)
  return { key, headers: { [MESSAGE_KEY_HEADER]: key }, body: event.raw, event }
}
