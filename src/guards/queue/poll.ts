/** A broker that has to be asked: asked again and again, while there is room for what it hands out. */
import { setTimeout as sleep } from 'node:timers/promises'
import { quietly } from '../../core/quietly.js'
import type { Deliveries } from './deliveries.js'

export interface Running {
  /** Takes no more messages, and waits for those that are being worked on. */
  stop(): Promise<void>
}

const PAUSE_MS = 2_000

/** A question that fails is told to `onError`, and asked again after a pause. */
export function poll<M>(
  deliveries: Deliveries<M>,
  concurrency: number,
  /** Asked for no more than there is room for. */
  receive: (most: number, signal: AbortSignal) => Promise<readonly M[]>,
  onError: (error: unknown) => void = () => undefined,
): Running {
  const stopping = new AbortController()
  const { signal } = stopping

  async function received(): Promise<readonly M[]> {
    try {
      return Array.from(await receive(concurrency - deliveries.size, signal))
    } catch (error) {
      if (!signal.aborted) quietly(() => onError(error))
    }
    await sleep(PAUSE_MS, undefined, { signal }).catch(() => undefined)
    return []
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      await deliveries.room(concurrency)
      // All in one turn of the loop: that is what makes one claim of them.
      for (const message of await received()) void deliveries.take(message)
    }
    await deliveries.idle()
  }

  const ended = run()
  return {
    async stop() {
      stopping.abort()
      await ended
    },
  }
}
