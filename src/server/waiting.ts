/** Requests that wait: how many at once, and how long at most. A stop of the server sends them home. */
import { type Duration, toMs } from '../core/duration.js'
import { refusal } from './problem.js'
import type { Premises } from './route.js'

export function capped(given: Duration, mostMs: number, field: string): number {
  return Math.min(toMs(given, field), mostMs)
}

/** Counts a request among those that wait, as long as it does; a request that does not wait is none of them. */
export async function waiting<T>(
  at: Premises,
  wait: Duration | undefined,
  run: () => Promise<T>,
): Promise<T> {
  if (wait === undefined || wait === 0) return await run()
  if (at.meters.waiters >= at.settings.maxWaiters) {
    throw refusal(
      'TOO_MANY_WAITING',
      'too many requests are waiting already',
      'come again in a second, or without wait',
      1_000,
    )
  }
  at.meters.waiters++
  try {
    return await run()
  } finally {
    at.meters.waiters--
  }
}
