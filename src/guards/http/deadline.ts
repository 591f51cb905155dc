/**
 * A signal that aborts after a time, or when another one does. `AbortSignal.any([signal, AbortSignal.timeout(ms)])`
 * says the same, but Node (20.20, for one) may garbage collect the time-out inside of it, and then it never comes.
 */
import { LONGEST_TIMER_MS } from '../../core/longest-timer.js'

export interface Deadline {
  readonly signal: AbortSignal
  /** What it was for has ended. */
  clear(): void
}

export function startDeadline(ms: number, outer?: AbortSignal | null): Deadline {
  const controller = new AbortController()
  const follow = (): void => controller.abort(outer?.reason)
  const late = (): void => {
    outer?.removeEventListener('abort', follow)
    controller.abort(new DOMException(`no answer within ${ms} ms`, 'TimeoutError'))
  }
  // The timer holds the controller, so that nothing of this is collected before its time.
  const timer = setTimeout(late, Math.min(ms, LONGEST_TIMER_MS))
  timer.unref()
  if (outer?.aborted) follow()
  else outer?.addEventListener('abort', follow, { once: true })
  return {
    signal: controller.signal,
    clear() {
      clearTimeout(timer)
      outer?.removeEventListener('abort', follow)
    },
  }
}
