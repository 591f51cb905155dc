/**
 * The status check, asked with the same key after a failure that says nothing about the effect. A request
 * that timed out may still be carried out, so "not found" is believed only when the downstream has had its
 * time: until then the check is asked again. Under the lease, which is kept meanwhile.
 */
import type { CheckResult } from '../../core/policy.js'
import type { ToolCall } from './contract.js'
import { type Execution, inTime, openCall } from './one-try.js'

type Check = (call: ToolCall) => CheckResult<unknown> | Promise<CheckResult<unknown>>

const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 5_000

export async function askUntilSettled(
  execution: Execution,
  check: Check,
  settlesMs: number,
): Promise<CheckResult<unknown>> {
  const { pace } = execution
  const stopMs = pace.elapsedMs() + settlesMs
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    // Whether this answer is the last is decided before it is asked for: a slow check is not a late one.
    const leftMs = stopMs - pace.elapsedMs()
    const answer = await ask(execution, check)
    if (answer.found === true || leftMs <= 0 || execution.outer()?.aborted) return answer
    await pace.pause(Math.min(pauseMs, leftMs))
  }
}

/** A check that throws, hangs or answers something else has not told us anything. */
export async function ask(execution: Execution, check: Check): Promise<CheckResult<unknown>> {
  const call = openCall(execution, 1)
  try {
    const answer = await inTime(Promise.resolve(check(call)), execution.terms.timeoutMs, call)
    return answer?.found === true || answer?.found === false ? answer : { found: 'unclear' }
  } catch (error) {
    execution.onError(error)
    return { found: 'unclear' }
  }
}
