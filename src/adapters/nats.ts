/**
 * `ibid/nats`: a pull consumer of JetStream behind the queue guard. The lease is the consumer's ack wait; while the
 * handler runs, `working()` keeps the server from delivering the message to somebody else. JetStream has no dead letter
 * of its own, so where dead ones go has to be said.
 */
import type { Consumer, ConsumerInfo, JsMsg } from '@nats-io/jetstream'
import { invalidIntent } from '../core/errors.js'
import {
  type BehindBroker,
  consume as guard,
  createDeliveries,
  type Dead,
  mustLayDown,
  notYours,
  readConcurrency,
  type Watch,
} from '../guards/queue/index.js'
import type { Ibid } from '../ibid.js'
import { idOf } from './nats/message.js'
import { takeFrom, type Taking } from './nats/taking.js'

export { toSubject, withMessageKey } from './nats/message.js'

export interface NatsOptions<T> extends BehindBroker<JsMsg, T, 'queue' | 'lease'>, Watch<JsMsg, T> {
  /** Default: the stream and the durable name of the consumer. */
  readonly queue?: string
  /** Messages worked on at a time. Default 100. */
  readonly concurrency?: number
  /** Where a dead message goes before it is terminated; `term`: nowhere, the server's advisory is enough. */
  readonly deadLetter: 'term' | ((message: JsMsg, verdict: Dead) => unknown)
}

export type NatsRunning = Taking

export async function consume<T>(
  ibid: Ibid,
  consumer: Consumer,
  options: NatsOptions<T>,
): Promise<NatsRunning> {
  notYours(options, ['id', 'working', 'deliveries', 'lease'], 'ibid/nats')
  const concurrency = readConcurrency(options.concurrency, 100)
  mustLayDown(options.deadLetter, (text) => text === 'term', "'term', or a function")
  const info = await consumer.info()
  const { config } = info
  const queue = mustBeSafe(info, options.queue)
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
  return takeFrom(consumer, createDeliveries(judge, told, options), concurrency)
}

/** The name of the work, unless the consumer is one that forgets receipts or loses messages. */
function mustBeSafe({ stream_name: stream, config }: ConsumerInfo, named: string | undefined): string {
  const { durable_name: durable, max_deliver: most = -1, ack_policy: policy } = config
  const who = JSON.stringify(`${stream}/${durable ?? '?'}`)
  if (policy !== 'explicit') {
    const message = `consumer ${who} acknowledges ${policy === 'all' ? 'others along with a message' : 'nothing'}`
    throw invalidIntent(message, "make it one with ack_policy 'explicit'")
  }
  if (most > 0) {
    const message = `consumer ${who} has max_deliver set: the server would drop a message silently`
    throw invalidIntent(message, 'set max_deliver to -1: the guard counts attempts, and only attempts')
  }
  if (named ?? durable) return named ?? `${stream}/${durable}`
  const message = `consumer ${who} is not durable: its next self would not know its receipts`
  throw invalidIntent(message, 'make it durable, or name the work: consume(ibid, consumer, { queue, … })')
}
