/**
 * `ibid/amqp`: a RabbitMQ queue behind the queue guard. A nack has no delay, so a message that has to wait does so
 * here, unacknowledged, and goes back after that: it holds its place in the prefetch, and a consumer that dies gives it
 * back at once. AMQP knows no progress either; a delivery is ours until its channel closes.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Channel, ConsumeMessage } from 'amqplib'
import { LONGEST_TIMER_MS } from '../core/longest-timer.js'
import { quietly } from '../core/quietly.js'
import {
  type BehindBroker,
  consume as guard,
  createDeliveries,
  type Dead,
  MESSAGE_KEY_HEADER,
  mustLayDown,
  notYours,
  type Running,
  type Watch,
} from '../guards/queue/index.js'
import type { Ibid } from '../ibid.js'

/** For producers: `channel.sendToQueue(queue, body, { headers: withMessageKey('order-81'), messageId })`. */
export { withMessageKey } from '../guards/queue/index.js'

export interface AmqpOptions<T> extends BehindBroker<ConsumeMessage, T>, Watch<ConsumeMessage, T> {
  /** The queue to consume, and the name of the work. */
  readonly queue: string
  /**
   * `dlx`: the queue was declared with `x-dead-letter-exchange`; without one RabbitMQ would drop the message, and no
   * client can ask. Or lay it down yourself: it is acknowledged after that.
   */
  readonly deadLetter: 'dlx' | ((message: ConsumeMessage, verdict: Dead) => unknown)
  /** The server ended the consumption: the queue was deleted, say. */
  readonly onCancel?: () => void
}

/** How many at a time is the channel's: `channel.prefetch(100)`. */
export async function consume<T>(ibid: Ibid, channel: Channel, options: AmqpOptions<T>): Promise<Running> {
  notYours(options, ['id', 'working', 'deliveries', 'concurrency'], 'ibid/amqp')
  const { queue, deadLetter } = options
  mustLayDown(deadLetter, (text) => text === 'dlx', "'dlx', or a function")
  const stopping = new AbortController()
  const judge = guard<ConsumeMessage, T>(ibid, {
    payload: ({ content }) => content,
    key: ({ properties }) => properties.headers?.[MESSAGE_KEY_HEADER] as unknown,
    ...options,
    id: ({ properties }) => properties.messageId as string | undefined,
    deliveries: deliveriesOf,
  })
  const told = {
    ack: (message: ConsumeMessage) => channel.ack(message),
    async retry(message: ConsumeMessage, { delayMs }: { delayMs: number }) {
      await sleep(Math.min(delayMs, LONGEST_TIMER_MS), undefined, { signal: stopping.signal }).catch(
        () => undefined,
      )
      channel.nack(message, false, true)
    },
    async dead(message: ConsumeMessage, verdict: Dead) {
      if (deadLetter === 'dlx') return channel.nack(message, false, false)
      await deadLetter(message, verdict)
      channel.ack(message)
    },
  }
  const deliveries = createDeliveries(judge, told, options)
  const { consumerTag } = await channel.consume(queue, (message) => {
    if (message) void deliveries.take(message)
    else quietly(() => options.onCancel?.())
  })
  return {
    async stop() {
      // On a channel that is closed already there is nothing to cancel.
      await channel.cancel(consumerTag).catch(() => undefined)
      stopping.abort()
      await deliveries.idle()
    },
  }
}

/** Only quorum queues count, and what they count is the deliveries before this one. */
function deliveriesOf({ properties }: ConsumeMessage): number | undefined {
  const before: unknown = properties.headers?.['x-delivery-count']
  return typeof before === 'number' ? before + 1 : undefined
}
