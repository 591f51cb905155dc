/** A message of JetStream: the id it keeps when delivered again, the key its producer gives it, its dead letter. */
import type { JetStreamClient, JsMsg } from '@nats-io/jetstream'
import { type Dead, MESSAGE_KEY_HEADER, withMessageKey as keyed } from '../../guards/queue/index.js'

type Headers = NonNullable<JsMsg['headers']>

const LONGEST_WORD = 1_000

/**
 * The producer's id where it gave one: JetStream itself tells the sends of a stream apart by it. Else the place in the
 * stream, and when it was taken: one that was made anew, or lost its end, gives the same place to another message.
 */
export function idOf({ headers, info, seq }: JsMsg): string {
  const said = headers?.get('Nats-Msg-Id')
  const stream = encodeURIComponent(info.stream)
  return said ? `msg:${stream}:${said}` : `seq:${stream}:${seq}@${info.timestampNanos}`
}

/** For producers: `js.publish(subject, data, { headers: withMessageKey('order-81', headers()) })`. */
export function withMessageKey(key: string, headers: Headers): Headers {
  headers.set(MESSAGE_KEY_HEADER, keyed(key)[MESSAGE_KEY_HEADER])
  return headers
}

/** A dead letter as a message of its own, under its old headers and why it died. `headers`: the client's function. */
export function toSubject(js: JetStreamClient, subject: string, headers: () => Headers) {
  return async (message: JsMsg, { code, reason }: Dead): Promise<void> => {
    const all = headers()
    const old = message.headers
    // The server's own belong to the publish that made them.
    for (const name of old?.keys().filter((one) => !/^nats-/i.test(one)) ?? []) {
      for (const value of old?.values(name) ?? []) all.append(name, value)
    }
    all.set('ibid-dead-code', inHeader(code))
    all.set('ibid-dead-reason', inHeader(reason))
    // Laid down once, although the term after it may be lost; once for each consumer whose message it was.
    const msgID = `dead:${message.info.consumer}:${idOf(message)}`
    try {
      await js.publish(subject, message.data, { headers: all, msgID })
    } catch (error) {
      if (!isTooLarge(error)) throw error
      // The body alone is nearly all that the server takes: better without a word about it, or twice, than never.
      await js.publish(subject, message.data)
    }
  }
}

function isTooLarge(error: unknown): boolean {
  return error instanceof Error && error.message.includes('max_payload')
}

/** In one line, and not so long that the server takes no message with it: it would be laid down never. */
function inHeader(text: string): string {
  return text.slice(0, LONGEST_WORD).replaceAll(/[\r\n]+/g, ' ')
}
