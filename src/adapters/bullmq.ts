/**
 * `ibid/bullmq`: a worker's processor behind the queue guard. The worker renews its lock by itself; the lease should be
 * as long (`lockDuration`, 30 s in both unless said). A dead job is a failed one, without further attempts; a job that
 * waits for its next attempt is delayed, which BullMQ does not count.
 */
import type { Job } from 'bullmq'
import { IbidError } from '../core/errors.js'
import { quietly } from '../core/quietly.js'
import {
  type BehindBroker,
  consume,
  MESSAGE_KEY_HEADER,
  notYours,
  type Verdict,
} from '../guards/queue/index.js'
import type { Ibid } from '../ibid.js'

/** For producers: `queue.add(name, withMessageKey('order-81', data))`; a job has no headers, so the data carry it. */
export { withMessageKey } from '../guards/queue/index.js'

export interface BullmqOptions<D, T> extends BehindBroker<Job<D, T>, T> {
  readonly onVerdict?: (verdict: Verdict<T | undefined>, job: Job<D, T>) => void
}

/** `new Worker('orders', processor(ibid, { queue: 'orders', handle }), { connection, maxStalledCount: 100 })` */
export function processor<D = unknown, T = unknown>(ibid: Ibid, options: BullmqOptions<D, T>) {
  notYours(options, ['id', 'deliveries', 'concurrency'], 'ibid/bullmq')
  const guard = consume<Job<D, T>, T>(ibid, {
    payload: ({ data }) => data,
    key: ({ data }) => (data as Readonly<Record<string, unknown>> | null)?.[MESSAGE_KEY_HEADER],
    ...options,
    id: idOf,
    deliveries: ({ attemptsStarted }) => attemptsStarted,
  })

  return async (job: Job<D, T>, token?: string): Promise<T> => {
    const verdict = await guard(job)
    quietly(() => options.onVerdict?.(verdict, job))
    switch (verdict.kind) {
      case 'ack':
        return verdict.value as T
      case 'retry':
        // Where Redis does not take it, the job is left as it is: its lock runs out, and it comes again as stalled.
        // Any other error would be a failed attempt, and by BullMQ's own count usually the last one.
        await job.moveToDelayed(Date.now() + verdict.delayMs, token).catch(() => undefined)
        throw spoken('DelayedError', verdict)
      case 'dead':
        throw spoken('UnrecoverableError', verdict)
    }
  }
}

/**
 * BullMQ counts its ids in Redis, and counts them anew where Redis lost them: with the time at which it was added a job
 * is not taken for the one that had its number before. A name that the producer gave is what the job is.
 */
function idOf({ id, timestamp }: Job<unknown>): string | undefined {
  return id !== undefined && /^\d+$/.test(id) ? `${id}@${timestamp}` : id
}

/** BullMQ knows these two by their names, so that its classes need not be loaded here. */
function spoken(name: string, verdict: Exclude<Verdict, { kind: 'ack' }>): Error {
  const { code, reason, error } = verdict
  const facts = { code, retriable: verdict.kind === 'retry', action: 'see the receipt of the message' }
  return Object.assign(new IbidError(`${code}: ${reason}`, { ...facts, cause: error }), { name })
}
