/**
 * Deliveries on their way to a verdict, and the verdict's way back to the broker. A verdict that cannot be told is no
 * loss: the broker delivers the message again, and its receipt knows. A dead letter is told only when it is laid
 * down elsewhere; until then the message stays where it is.
 */
import { quietly } from '../../core/quietly.js'
import type { Consumer } from './consume.js'
import type { Ack, Dead, Retry, Verdict } from './verdict.js'

/** How one broker is told. Each may fail, or return a promise that does. */
export interface Told<M, T> {
  readonly ack: (message: M, verdict: Ack<T | undefined>) => unknown
  readonly retry: (message: M, verdict: Retry) => unknown
  /** Lays the message down as a dead letter, and takes it from the queue after that. */
  readonly dead: (message: M, verdict: Dead) => unknown
}

export interface Watch<M, T = unknown> {
  /** Every verdict, when the broker has been told. */
  readonly onVerdict?: ((verdict: Verdict<T | undefined>, message: M) => void) | undefined
  /** The broker could not be told; the message comes again. */
  readonly onError?: ((error: unknown, message: M) => void) | undefined
}

export interface Deliveries<M> {
  /** Never rejects. */
  take(message: M): Promise<void>
  /** How many are on their way. */
  readonly size: number
  /** Resolves when fewer than `most` are on their way. */
  room(most: number): Promise<void> | undefined
  /** Resolves when none is. */
  idle(): Promise<void>
}

const DEAD_LETTER_RETRY_MS = 2_000

export function createDeliveries<M, T>(
  guard: Consumer<M, T>,
  told: Told<M, T>,
  watch: Watch<M, T> = {},
): Deliveries<M> {
  const waiting = new Set<{ readonly below: number; readonly go: () => void }>()
  let onTheirWay = 0

  async function tell(message: M, verdict: Verdict<T | undefined>): Promise<void> {
    switch (verdict.kind) {
      case 'ack':
        await told.ack(message, verdict)
        return
      case 'retry':
        await told.retry(message, verdict)
        return
      case 'dead':
        await bury(message, verdict)
    }
  }

  async function bury(message: M, verdict: Dead): Promise<void> {
    // Laying it down may take longer than the broker waits, which would deliver it again meanwhile.
    const stop = guard.working?.start(message)
    try {
      await told.dead(message, verdict)
    } catch (error) {
      const { code, reason } = verdict
      await told.retry(message, { kind: 'retry', delayMs: DEAD_LETTER_RETRY_MS, code, reason, error })
      throw error
    } finally {
      stop?.()
    }
  }

  function until(below: number): Promise<void> {
    if (onTheirWay < below) return Promise.resolve()
    return new Promise((resolve) => waiting.add({ below, go: resolve }))
  }

  return {
    async take(message) {
      onTheirWay++
      try {
        const verdict = await guard(message)
        await tell(message, verdict)
        quietly(() => watch.onVerdict?.(verdict, message))
      } catch (error) {
        quietly(() => watch.onError?.(error, message))
      } finally {
        onTheirWay--
        for (const one of waiting) {
          if (onTheirWay < one.below && waiting.delete(one)) one.go()
        }
      }
    },
    get size() {
      return onTheirWay
    },
    room: (most) => (onTheirWay < most ? undefined : until(most)),
    idle: () => until(1),
  }
}
