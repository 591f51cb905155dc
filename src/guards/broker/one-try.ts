/**
 * One try of a tool, or of its status check, as it sees it: the call, and a time after which it is not waited
 * for any longer. What it does after that changes nothing here.
 */
import type { Contract, ToolCall } from './contract.js'
import { TryTimeout } from './failure.js'
import type { ToolTerms } from './terms.js'

/** The broker's time and chance, for tests and simulations. */
export interface Pace {
  elapsedMs(): number
  /** Resolves after `ms`. */
  pause(ms: number): Promise<void>
  random(): number
}

/** One execution: everything of a ToolCall but what changes from try to try. */
export interface Execution {
  readonly contract: Contract
  readonly terms: ToolTerms
  readonly pace: Pace
  readonly base: Omit<ToolCall, 'try' | 'signal'>
  /** Aborts when nobody may act under this claim any more. */
  readonly outer: () => AbortSignal | undefined
  /** The raw error behind an answer, for the host's log. */
  readonly onError: (error: unknown) => void
}

interface OpenCall extends ToolCall {
  expire(error: Error): void
}

export function openCall({ base, outer }: Execution, tried: number): OpenCall {
  let controller: AbortController | undefined
  let ended: Error | undefined
  return {
    key: base.key,
    tenant: base.tenant,
    tool: base.tool,
    args: base.args,
    runId: base.runId,
    stepId: base.stepId,
    attempt: base.attempt,
    try: tried,
    epoch: base.epoch,
    // Made only when somebody asks: most tools never do.
    get signal() {
      controller ??= new AbortController()
      if (ended) controller.abort(ended)
      const around = outer()
      return around ? AbortSignal.any([controller.signal, around]) : controller.signal
    },
    expire(error) {
      ended = error
      controller?.abort(error)
    },
  }
}

export function inTime<T>(given: PromiseLike<T>, timeoutMs: number, call: OpenCall): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const timer = setTimeout(() => {
      const late = new TryTimeout(`it did not end within ${timeoutMs} ms`)
      // The caller is told before the tool is: what the tool throws when it is stopped is no news.
      reject(late)
      call.expire(late)
    }, timeoutMs)
    given.then(
      (value) => {
        clearTimeout(timer)
        resolve(value)
      },
      (error: unknown) => {
        clearTimeout(timer)
        reject(error)
      },
    )
  })
}
