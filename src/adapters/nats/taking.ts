/**
 * Messages of a pull consumer, never more than there is room for: what the client holds back for later is told of to
 * nobody, so that its ack wait runs out, somebody else is given it, and it is old when its turn comes.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Consumer, ConsumerMessages, JsMsg } from '@nats-io/jetstream'
import type { Deliveries, Running } from '../../guards/queue/index.js'

export interface Taking extends Running {
  /** Resolves when it was stopped, or the connection closed. Rejects where the consumer is gone, or forbidden. */
  readonly ended: Promise<void>
}

/** A question that was lost with its connection is asked again after that. */
const ASKED_FOR_MS = 5_000
const PAUSE_MS = 2_000
const CLOSED = /^(Closed|Draining)ConnectionError$/
const GONE = /^(Consumer|Stream)NotFoundError$/
/** What a server says, or does not say, while it starts, stops, or moves the consumer. */
const FOR_NOW = /^(JetStream\w*|TimeoutError|NoResponders|RequestError)$/

export function takeFrom(consumer: Consumer, deliveries: Deliveries<JsMsg>, concurrency: number): Taking {
  const stopping = new AbortController()
  const { signal } = stopping
  let asked: ConsumerMessages | undefined

  async function askOnce(): Promise<void> {
    await deliveries.room(concurrency)
    // Those that are done in the same turn of the loop make room together: one question for all.
    await new Promise((resolve) => setImmediate(resolve))
    if (signal.aborted) return
    const room = { max_messages: concurrency - deliveries.size, expires: ASKED_FOR_MS }
    asked = await consumer.fetch(room)
    for await (const message of asked) {
      void deliveries.take(message)
      // A connection that came back asks for all of them again, whatever had come before.
      await deliveries.room(concurrency)
    }
  }

  async function run(): Promise<void> {
    try {
      while (!signal.aborted) {
        try {
          await askOnce()
        } catch (error) {
          if (isNamed(error, CLOSED)) return
          if (!isNamed(error, FOR_NOW)) throw error
          await mustBeThere(consumer)
          await sleep(PAUSE_MS, undefined, { signal }).catch(() => undefined)
        }
      }
    } finally {
      await deliveries.idle()
    }
  }

  const ended = run()
  // Whoever watches it hears why; nobody has to, and then it is no reason to end the process.
  ended.catch(() => undefined)
  return {
    ended,
    async stop() {
      stopping.abort()
      await asked?.close()
      await ended
    },
  }
}

/** A server that does not answer may come back; a consumer that it does not know will not. */
async function mustBeThere(consumer: Consumer): Promise<void> {
  try {
    await consumer.info()
  } catch (error) {
    if (isNamed(error, GONE)) throw error
  }
}

function isNamed(error: unknown, names: RegExp): boolean {
  return error instanceof Error && names.test(error.name)
}
