/** A consumer on a store in memory, and what its handler did: for the tests of the guard by itself. */
import { onTestFinished } from 'vitest'
import { type ConsumeOptions, type Consumer, consume } from '../../src/guards/queue/index.js'
import { createIbid, type Ibid } from '../../src/index.js'
import { memoryStore } from '../../src/stores/memory/index.js'
import { type FaultyStore, faultyStore } from '../../src/testing/index.js'

export interface Message {
  readonly id?: string | number
  readonly headers?: unknown
  readonly body?: unknown
}

export interface Bench {
  readonly take: Consumer<Message>
  readonly ibid: Ibid
  readonly store: FaultyStore
  /** One entry per run of the handler: the key it ran under. */
  readonly runs: string[]
}

/** `handle` may be left out: the handler then returns the message's id. */
export function consumer(
  options: Partial<ConsumeOptions<Message>> = {},
  tenant: string | null = 'acme',
): Bench {
  const store = faultyStore(memoryStore())
  const ibid = createIbid({ store, housekeeping: false, ...(tenant === null ? {} : { tenant }) })
  onTestFinished(() => ibid.close())
  const runs: string[] = []
  const take = consume<Message>(ibid, {
    queue: 'orders',
    id: (message) => message.id,
    ...options,
    handle(message, attempt) {
      runs.push(attempt.key)
      return options.handle ? options.handle(message, attempt) : message.id
    },
  })
  return { take, ibid, store, runs }
}

export const keyed = (key: unknown, rest: Message = {}): Message => ({
  headers: { 'ibid-message-key': key },
  ...rest,
})

export function failing(error: unknown): () => never {
  return () => {
    throw error
  }
}
