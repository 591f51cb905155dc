/** The middle of a call: after its effect, before its answer. Only a probe can tell. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Bench } from './bench.js'

const EVERY_MS = 2

/** Resolves to true when the count has left `before`; to false when the call has ended without that being seen. */
export async function effectSeen(
  bench: Pick<Bench, 'peek'>,
  before: number | undefined,
  call: Promise<unknown>,
): Promise<boolean> {
  const end = { isReached: false }
  void call.then(() => (end.isReached = true))
  while (!end.isReached) {
    const now = await bench.peek()
    if (!end.isReached && now !== before) return true
    await sleep(EVERY_MS)
  }
  return false
}
