/** Which request is running under which attempt, so that a handler can hand its key on. */
import type { Attempt } from '../../core/policy.js'
import type { Run } from './run.js'

/** On the request itself: a WeakMap would cost the collector more than the guard costs the request. */
const RUN = Symbol('ibid run')
type Announced = { [RUN]?: Run }

export function announce(request: object, run: Run): void {
  ;(request as Announced)[RUN] = run
}

/**
 * The attempt that a request runs under: its key for the downstream, its epoch, its signal. Takes what the framework
 * calls the request (Hono: the context). Undefined for requests that are not guarded.
 */
export function attemptOf(request: object): Attempt | undefined {
  return (request as Announced)[RUN]?.attempt
}

/** For error handlers: Rejected, NotExecuted and OutcomeUnknown count before the status of the response. */
export function heard(request: object, error: unknown): void {
  ;(request as Announced)[RUN]?.heard(error)
}
