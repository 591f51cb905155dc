/**
 * `ibid/sqs`: a queue of SQS behind the queue guard. The lease is the queue's visibility time-out, and progress moves
 * that on while the handler runs. Takes the aggregated client (`SQS`), which carries its own commands.
 */
import type { Message, MessageAttributeValue, SQS } from '@aws-sdk/client-sqs'
import {
  type BehindBroker,
  consume as guard,
  createDeliveries,
  type Dead,
  MESSAGE_KEY_HEADER,
  mustLayDown,
  notYours,
  poll,
  readConcurrency,
  type Running,
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

export interface SqsOptions<T> extends BehindBroker<Message, T, 'queue' | 'lease'>, Watch<Message, T> {
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

const LONGEST_SECONDS = 43_200
const ASKED = {
  MessageAttributeNames: ['All'],
  MessageSystemAttributeNames: ['All' as const],
  WaitTimeSeconds: 20,
}

export async function consume<T>(
  ibid: Ibid,
  sqs: Pick<SQS, Verbs>,
  options: SqsOptions<T>,
): Promise<Running> {
  notYours(options, ['id', 'working', 'deliveries', 'lease'], 'ibid/sqs')
  const { queueUrl: QueueUrl, deadLetter } = options
  const concurrency = readConcurrency(options.concurrency, 10)
  mustLayDown(deadLetter, (text) => URL.canParse(text), 'the URL of a queue, or a function')
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
    // Not a FIFO queue's deduplication id: made of the content, it would make one of two orders that look alike.
    id: ({ MessageId }) => MessageId,
    lease: visibleSeconds * 1_000,
    working: (message) => hide(message, visibleSeconds),
    deliveries: (message) => Number(message.Attributes?.ApproximateReceiveCount ?? 0),
  })
  const told = {
    ack: remove,
    retry: (message: Message, { delayMs }: { delayMs: number }) => hide(message, delayMs / 1_000),
    async dead(message: Message, verdict: Dead) {
      if (typeof deadLetter === 'string') {
        const { Body: MessageBody, MessageAttributes } = message
        await sqs.sendMessage({ QueueUrl: deadLetter, MessageBody, MessageAttributes })
      } else await deadLetter(message, verdict)
      await remove(message)
    },
  }
  const receive = async (most: number, abortSignal: AbortSignal) => {
    const input = { QueueUrl, MaxNumberOfMessages: Math.min(most, 10), ...ASKED }
    return (await sqs.receiveMessage(input, { abortSignal })).Messages ?? []
  }
  return poll(createDeliveries(judge, told, options), concurrency, receive, options.onPollError)
}

/** For producers: `sqs.sendMessage({ QueueUrl, MessageBody, MessageAttributes: withMessageKey('order-81') })`. */
export function withMessageKey(
  key: string,
  attributes: Readonly<Record<string, MessageAttributeValue>> = {},
): Record<string, MessageAttributeValue> {
  const { [MESSAGE_KEY_HEADER]: StringValue } = keyed(key)
  return { ...attributes, [MESSAGE_KEY_HEADER]: { DataType: 'String', StringValue } }
}
