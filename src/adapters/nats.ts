/**
 * `ibid/nats`: a pull consumer of JetStream behind the queue guard. The lease is the consumer's ack wait; while the
 * handler runs, `working()` keeps the server from delivering the message to somebody else. JetStream has no dead letter
 * of its own, so where dead ones go has to be said.
 */
import type { Consumer, JetStreamClient, JsMsg } from '@nats-io/jetstream'
import { invalidIntent } from '../core/errors.js'
import {
  consume as guard,
  type ConsumeOptions,
  createDeliveries,
  type Dead,
  MESSAGE_KEY_HEADER,
  type Watch,
} from '../guards/queue/index.js'
import type { Ibid } from '../ibid.js'

type Headers = NonNullable<JsMsg['headers']>
type FromBroker = 'queue' | 'id' | 'lease' | 'working' | 'deliveries'

export interface NatsOptions<T> extends Omit<ConsumeOptions<JsMsg, T>, FromBroker>, Watch<JsMsg, T> {
  /** Default: the stream and the durable name of the consumer. */
  readonly queue?: string
  /** Messages worked on at a time. Default 100. */
  readonly concurrency?: number
  /** Where a dead message goes before it is terminated; `term`: nowhere, the server's advisory is enough. */
  readonly deadLetter: 'term' | ((message: JsMsg, verdict: Dead) => unknown)
}

export interface Running {
  /** Takes no more messages, and waits for those that are being worked on. */
  stop(): Promise<void>
  /** When the last message has its verdict: after `stop`, or after the connection was closed. */
  readonly ended: Promise<void>
}

export async function consume<T>(ibid: Ibid, consumer: Consumer, options: NatsOptions<T>): Promise<Running> {
  const { stream_name: stream, config } = await consumer.info()
  const { queue = config.durable_name && `${stream}/${config.durable_name}`, concurrency = 100 } = options
  if (queue === undefined) throw unnamed(stream)
  if ((config.max_deliver ?? -1) > 0) throw forgetful(queue)
  const { deadLetter } = options
  const judge = guard<JsMsg, T>(ibid, {
    payload: ({ data }) => data,
    ...options,
    queue,
    id: idOf,
    lease: Math.max(1, Math.round((config.ack_wait ?? 30e9) / 1e6)),
    working: (message) => message.working(),
    deliveries: ({ info }) => info.deliveryCount,
  })
  const told = {
    ack: (message: JsMsg) => message.ack(),
    retry: (message: JsMsg, { delayMs }: { delayMs: number }) => message.nak(delayMs),
    async dead(message: JsMsg, verdict: Dead) {
      if (deadLetter !== 'term') await deadLetter(message, verdict)
      // Without the reason: servers before 2.11 take a term with one for nothing at all, and deliver it for ever.
      message.term()
    },
  }
  const deliveries = createDeliveries(judge, told, options)
  const messages = await consumer.consume({ max_messages: concurrency })

  async function run(): Promise<void> {
    for await (const message of messages) {
      void deliveries.take(message)
      await deliveries.room(concurrency)
    }
    await deliveries.idle()
  }
  const ended = run()
  return {
    ended,
    async stop() {
      await messages.close()
      await ended
    },
  }
}

/** For producers: `js.publish(subject, data, { headers: withMessageKey('order-81', headers()) })`. */
export function withMessageKey(key: string, headers: Headers): Headers {
  headers.set(MESSAGE_KEY_HEADER, key)
  return headers
}

/** A dead letter as a message of its own, under its old headers and why it died. `headers`: the client's function. */
export function toSubject(js: JetStreamClient, subject: string, headers: () => Headers) {
  return async (message: JsMsg, { code, reason }: Dead): Promise<void> => {
    const all = headers()
    for (const name of message.headers?.keys() ?? []) {
      // Those of the server's own belong to the publish that made them.
      if (!/^nats-/i.test(name))
        for (const value of message.headers?.values(name) ?? []) all.append(name, value)
    }
    all.set('ibid-dead-code', code)
    all.set('ibid-dead-reason', reason.replaceAll(/[\r\n]+/g, ' '))
    // Laid down once although the term after it may be lost.
    await js.publish(subject, message.data, { headers: all, msgID: `dead:${idOf(message)}` })
  }
}

/** The producer's id where it gave one: JetStream itself tells sends apart by it. */
function idOf({ headers, info, seq }: JsMsg): string {
  const said = headers?.get('Nats-Msg-Id')
  return said ? `msg:${said}` : `seq:${info.stream}:${seq}`
}

function unnamed(stream: string): Error {
  return invalidIntent(
    `the consumer of stream ${JSON.stringify(stream)} is not durable, so that its next self would not know its receipts`,
    'make it durable, or name the work yourself: consume(ibid, consumer, { queue, … })',
  )
}

function forgetful(queue: string): Error {
  return invalidIntent(
    `the consumer ${JSON.stringify(queue)} has max_deliver set: the server would drop a message silently`,
    'set max_deliver to -1: the guard counts attempts, and knows which deliveries were none',
  )
}
