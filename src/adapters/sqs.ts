/**
 * `ibid/sqs`: a queue of SQS behind the queue guard. The lease is the queue's visibility time-out, and progress moves
 * that on while the handler runs. Takes the aggregated client (`SQS`), which carries its own commands.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Message, MessageAttributeValue, SQS } from '@aws-sdk/client-sqs'
import {
  consume as guard,
  type ConsumeOptions,
  createDeliveries,
  type Dead,
  MESSAGE_KEY_HEADER,
  type Watch,
  withMessageKey as keyed,
} from '../guards/queue/index.js'
import type { Ibid } from '../ibid.js'

type Verbs =
  | 'receiveMessage'
  | 'deleteMessage'
  | 'changeMessageVisibility'
  | 'sendMessage'
  | 'getQueueAttributes'
type FromBroker = 'queue' | 'id' | 'lease' | 'working' | 'deliveries'

export interface SqsOptions<T> extends Omit<ConsumeOptions<Message, T>, FromBroker>, Watch<Message, T> {
  readonly queueUrl: string
  /** Names the work. Default: the last part of the URL. */
  readonly queue?: string
  /** Messages worked on at a time. Default 10, which is what SQS hands out at once. */
  readonly concurrency?: number
  /** The URL of a queue for dead messages, or where else they go. The queue's own redrive policy stays as it is. */
  readonly deadLetter: string | ((message: Message, verdict: Dead) => unknown)
  /** Receiving failed; it is tried again in two seconds. */
  readonly onPollError?: (error: unknown) => void
}

export interface Running {
  stop(): Promise<void>
}

const LONGEST_SECONDS = 43_200
const PAUSE_MS = 2_000

export async function consume<T>(
  ibid: Ibid,
  sqs: Pick<SQS, Verbs>,
  options: SqsOptions<T>,
): Promise<Running> {
  const { queueUrl: QueueUrl, deadLetter, concurrency = 10 } = options
  const { Attributes } = await sqs.getQueueAttributes({ QueueUrl, AttributeNames: ['VisibilityTimeout'] })
  const visibleSeconds = Number(Attributes?.['VisibilityTimeout'] ?? 0) || 30
  const hide = ({ ReceiptHandle }: Message, seconds: number) => {
    const VisibilityTimeout = Math.min(Math.ceil(seconds), LONGEST_SECONDS)
    return sqs.changeMessageVisibility({ QueueUrl, ReceiptHandle, VisibilityTimeout })
  }
  const remove = ({ ReceiptHandle }: Message) => sqs.deleteMessage({ QueueUrl, ReceiptHandle })
  const judge = guard<Message, T>(ibid, {
    payload: ({ Body }) => Body ?? null,
    key: ({ MessageAttributes }) => MessageAttributes?.[MESSAGE_KEY_HEADER]?.StringValue,
    ...options,
    queue: options.queue ?? new URL(QueueUrl).pathname.split('/').at(-1) ?? '',
    id: ({ MessageId, Attributes }) => Attributes?.MessageDeduplicationId ?? MessageId,
    lease: visibleSeconds * 1_000,
    working: (message) => hide(message, visibleSeconds),
    deliveries: (message) => Number(message.Attributes?.ApproximateReceiveCount ?? 0),
  })
  const told = {
    ack: remove,
    retry: (message: Message, { delayMs }: { delayMs: number }) => hide(message, delayMs / 1_000),
    async dead(message: Message, verdict: Dead) {
      await (typeof deadLetter === 'string' ? lay(sqs, deadLetter, message) : deadLetter(message, verdict))
      await remove(message)
    },
  }
  const deliveries = createDeliveries(judge, told, options)
  const stopping = new AbortController()
  const polled = poll()

  async function poll(): Promise<void> {
    while (!stopping.signal.aborted) {
      await deliveries.room(concurrency)
      for (const message of await received()) void deliveries.take(message)
    }
    await deliveries.idle()
  }

  async function received(): Promise<readonly Message[]> {
    const wanted = { MessageAttributeNames: ['All'], MessageSystemAttributeNames: ['All' as const] }
    const input = { QueueUrl, MaxNumberOfMessages: Math.min(concurrency, 10), WaitTimeSeconds: 20, ...wanted }
    try {
      const { Messages = [] } = await sqs.receiveMessage(input, { abortSignal: stopping.signal })
      return Messages
    } catch (error) {
      if (!stopping.signal.aborted) options.onPollError?.(error)
    }
    await sleep(PAUSE_MS, undefined, { signal: stopping.signal }).catch(() => undefined)
    return []
  }

  return {
    async stop() {
      stopping.abort()
      await polled
    },
  }
}

/** For producers: `sqs.sendMessage({ QueueUrl, MessageBody, MessageAttributes: withMessageKey('order-81') })`. */
export function withMessageKey(
  key: string,
  attributes: Readonly<Record<string, MessageAttributeValue>> = {},
): Record<string, MessageAttributeValue> {
  const { [MESSAGE_KEY_HEADER]: StringValue } = keyed(key)
  return { ...attributes, [MESSAGE_KEY_HEADER]: { DataType: 'String', StringValue } }
}

function lay(
  sqs: Pick<SQS, Verbs>,
  QueueUrl: string,
  { Body, MessageAttributes }: Message,
): Promise<unknown> {
  return sqs.sendMessage({ QueueUrl, MessageBody: Body, MessageAttributes })
}
