/**
 * Takes refunds from the queue and gives them to the agent. With the layer, the message's receipt decides whether the
 * agent is asked; without it, every delivery asks. What nobody can decide goes to the dead letters, for a person.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { OutcomeUnknown } from '../../core/errors.js'
import { consume, type Consumer, createDeliveries, poll, type Running } from '../../guards/queue/index.js'
import { decodeChain, linkOf } from '../../guards/run/index.js'
import type { Ibid } from '../../ibid.js'
import type { Agent } from './agent.js'
import { CHAIN_HEADER } from './ingress.js'
import { LEASE_MS, MOST_ATTEMPTS } from './leases.js'
import type { Message, Queue } from './queue.js'

const CONCURRENCY = 16
const LOOK_MS = 20
const AGAIN_MS = 200

export function guardedConsumer(ibid: Ibid, queue: Queue, agent: Agent): Consumer<Message, void> {
  return consume(ibid, {
    queue: 'refunds',
    id: ({ id }) => id,
    payload: ({ order }) => order,
    lease: LEASE_MS,
    // A run may wait for its worker's lease, and more than once.
    timeout: '5m',
    maxAttempts: MOST_ATTEMPTS,
    retryDelay: AGAIN_MS,
    guardDelay: AGAIN_MS,
    working: (message) => queue.postpone(message, LEASE_MS),
    handle: async ({ order, headers }, attempt) => {
      await agent.handle(order, [...decodeChain(headers[CHAIN_HEADER]), linkOf(attempt)])
    },
  })
}

/** It keeps its messages while it works on them, as a careful consumer does: only the dead lose theirs. */
export function openConsumer(queue: Queue, agent: Agent): Consumer<Message, void> {
  return async (message) => {
    const { order, headers } = message
    const keeping = setInterval(() => queue.postpone(message, LEASE_MS), LEASE_MS / 3)
    try {
      await agent.handle(order, decodeChain(headers[CHAIN_HEADER]))
      return { kind: 'ack', value: undefined, replayed: false, reason: 'done', receipt: undefined }
    } catch (error) {
      const reason = String(error)
      if (error instanceof OutcomeUnknown) return { kind: 'dead', code: error.code, reason, error }
      return { kind: 'retry', delayMs: AGAIN_MS, code: 'HANDLER_FAILED', reason, error }
    } finally {
      clearInterval(keeping)
    }
  }
}

export function startConsuming(queue: Queue, consumer: Consumer<Message, void>): Running {
  const deliveries = createDeliveries(consumer, {
    ack: (message) => queue.ack(message),
    retry: (message, { delayMs }) => queue.postpone(message, delayMs),
    dead: (message, { reason }) => queue.bury(message, reason),
  })
  return poll(deliveries, CONCURRENCY, async (most, signal) => {
    const messages = queue.receive(most)
    if (messages.length === 0) await sleep(LOOK_MS, undefined, { signal }).catch(() => undefined)
    return messages
  })
}
