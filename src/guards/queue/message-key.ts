/**
 * The key of a message: what its producer said in the header, else a hash of queue and transport id. The header is
 * better: a transport's id tells redeliveries of one message apart from others, not two sends of one event.
 */
import { invalidIntent } from '../../core/errors.js'
import { checkAddress } from '../../core/intent.js'
import { deriveKey } from '../../key/index.js'

/** Every layer that puts something on a queue sets this one, and every consumer reads it. */
export const MESSAGE_KEY_HEADER = 'ibid-message-key'

/** For producers: headers that carry the key of the event, beside whatever else they carry. */
export function withMessageKey<H extends Readonly<Record<string, unknown>>>(
  key: string,
  headers?: H,
): H & { readonly [MESSAGE_KEY_HEADER]: string } {
  checkAddress({ tenant: 'tenant', scope: 'scope', key })
  return { ...(headers as H), [MESSAGE_KEY_HEADER]: key }
}

/** What the producer said, where the message keeps its headers in the usual place. */
export function keyInHeaders(message: unknown): unknown {
  const headers = (message as { headers?: unknown } | null | undefined)?.headers
  if (typeof headers !== 'object' || headers === null) return undefined
  if ('get' in headers && typeof headers.get === 'function')
    return (headers as { get(name: string): unknown }).get(MESSAGE_KEY_HEADER)
  return (headers as Readonly<Record<string, unknown>>)[MESSAGE_KEY_HEADER]
}

/** An empty header is none; anything else that is no text is refused, not turned into some. */
export function messageKey(
  queue: string,
  tenant: string | undefined,
  said: unknown,
  id: () => unknown,
): string {
  if (said !== undefined && said !== null && said !== '') {
    if (typeof said === 'string') return said
    throw invalidIntent(
      `the key of the message is of type ${typeof said}`,
      `send ${MESSAGE_KEY_HEADER} as a text of 1 to 255 characters`,
    )
  }
  const transportId = id()
  if (typeof transportId !== 'string' && typeof transportId !== 'number') throw noKey(queue)
  if (transportId === '') throw noKey(queue)
  return deriveKey({ tenant: tenant ?? 'default', layer: 'queue', queue, id: transportId }, null)
}

function noKey(queue: string): Error {
  return invalidIntent(
    `a message of ${JSON.stringify(queue)} has neither a key nor an id, so that a redelivery could not be told from a new one`,
    `let the producer set ${MESSAGE_KEY_HEADER}, or an id that stays the same when the message is delivered again`,
  )
}
