/**
 * The execution of a tool inside one claim: try, read what it threw, try again where that does no harm, and
 * end with a value or with a verdict that the engine writes down. Every try has the same key. No try begins
 * that could not end within the lease, and an ambiguous failure is asked about before anything else happens.
 */
import { IbidError, NotExecuted, OutcomeUnknown } from '../../core/errors.js'
import type { CheckResult } from '../../core/policy.js'
import { askUntilSettled } from './ambiguity.js'
import {
  asNotExecuted,
  asRejected,
  isTransient,
  kindOf,
  mayRepeat,
  needsHuman,
  retryAfterMsOf,
} from './failure.js'
import { type Execution, inTime, openCall } from './one-try.js'
import type { ToolTerms } from './terms.js'

export async function runTries(execution: Execution): Promise<unknown> {
  const { contract, terms, pace } = execution
  const startMs = pace.elapsedMs()
  if (execution.base.attempt > 1 && contract.check && terms.repeatable) {
    const earlier = await askUntilSettled(execution, contract.check.bind(contract), 0)
    if (earlier.found === true) return earlier.value
  }
  // An earlier try may have done it: then "not executed" speaks for the last one only.
  let doubtful = execution.base.attempt > 1
  for (let tried = 1; ; tried++) {
    if (tried > 1 && execution.outer()?.aborted) throw stopped(execution)
    const call = openCall(execution, tried)
    try {
      const given = contract.execute(execution.base.args, call)
      return isThenable(given) ? await inTime(given, terms.timeoutMs, call) : given
    } catch (error) {
      const found = await judge(execution, error, doubtful)
      if (found.found) return found.value
      doubtful ||= found.doubtful
      const delayMs = delayAfter(execution, error, tried)
      const fits = pace.elapsedMs() - startMs + delayMs + terms.timeoutMs <= terms.leaseMs
      const waits = delayMs <= terms.maxBackoffMs
      if (found.again && tried < terms.attempts && fits && waits && !execution.outer()?.aborted) {
        await pace.pause(delayMs)
        continue
      }
      throw found.verdict
    }
  }
}

/** Whoever waited has been told by the engine, or has gone: this is for nobody. */
function stopped({ outer }: Execution): Error {
  const reason: unknown = outer()?.reason
  return reason instanceof Error ? reason : mayRepeat(reason)
}

function isThenable(given: unknown): given is PromiseLike<unknown> {
  return typeof (given as PromiseLike<unknown> | null | undefined)?.then === 'function'
}

type Judged =
  | { readonly found: true; readonly value: unknown }
  | {
      readonly found: false
      readonly again: boolean
      readonly doubtful: boolean
      readonly verdict: IbidError
    }

/** What a failed try means: the effect happened after all, or a verdict, and whether another try does no harm. */
async function judge(execution: Execution, error: unknown, doubtful: boolean): Promise<Judged> {
  const { contract, terms } = execution
  const kind = kindOf(contract, error)
  if (kind === 'rejected') return verdict(false, asRejected(error))
  execution.onError(error)
  if (kind === 'not-executed') {
    return doubtful && terms.repeatable ? open(true, error) : notExecuted(terms, asNotExecuted(error))
  }
  if (!terms.receipted) return open(isTransient(error), error)
  const answer = await ask(execution, error)
  if (answer?.found === true) return { found: true, value: answer.value }
  const said = error instanceof OutcomeUnknown ? error : undefined
  if (terms.repeatable && !said) return open(isTransient(error), error)
  if (answer?.found === false) {
    return notExecuted(
      terms,
      new NotExecuted('the tool failed, and its status check found nothing', { cause: error }),
    )
  }
  if (answer)
    return verdict(false, said ?? new OutcomeUnknown('the status check could not tell', { cause: error }))
  return verdict(false, needsHuman('the tool failed, and nothing can say whether it happened', error))
}

function notExecuted(terms: ToolTerms, error: NotExecuted): Judged {
  return terms.human
    ? verdict(false, needsHuman('it was not done, and a person decides about another attempt', error))
    : verdict(true, error)
}

function verdict(again: boolean, error: IbidError): Judged {
  return { found: false, again, doubtful: false, verdict: error }
}

/** It may have happened, and doing it again with the same key does no harm. */
function open(again: boolean, error: unknown): Judged {
  return { found: false, again, doubtful: true, verdict: mayRepeat(error) }
}

/** A downstream that takes the key does no harm when asked too early; any other is given time to finish first. */
async function ask(execution: Execution, error: unknown): Promise<CheckResult<unknown> | undefined> {
  const { contract, terms } = execution
  if (!contract.check) return undefined
  const atOnce = terms.repeatable && !(error instanceof OutcomeUnknown)
  return await askUntilSettled(execution, contract.check.bind(contract), atOnce ? 0 : terms.settlesMs)
}

/** Half of the pause is chance, so that many callers do not come back together. */
function delayAfter({ terms, pace }: Execution, error: unknown, tried: number): number {
  const base = Math.min(terms.backoffMs * 2 ** (tried - 1), terms.maxBackoffMs)
  const jittered = base * (0.5 + pace.random() / 2)
  const asked = retryAfterMsOf(error)
  return asked === undefined ? jittered : Math.max(asked, jittered)
}
