/**
 * One attempt at a run, inside its receipt's lease: admission, the steps that its code takes, and what the way in which
 * the code ends means for the run. An error that says nothing leaves the run to the next attempt, which skips the steps
 * that committed; a held or a diverging step holds the run for a person.
 */
import { OutcomeUnknown, Rejected } from '../../core/errors.js'
import type { Attempt } from '../../core/policy.js'
import type { ActiveRun } from './active-run.js'
import type { Link } from './chain.js'
import { atWorkId, type Desk } from './desk.js'
import { cancelWhere, runIdOf } from './names.js'
import { type By, cancelled, handedOver, heldBy } from './refusals.js'
import { type Steps, stepsOf } from './steps.js'
import type { RunTerms } from './terms.js'

/** A run, as its code sees it. */
export interface Run extends Steps {
  readonly runId: string
  readonly tenant: string
  readonly agent: string
  readonly key: string
  /** What came in: the same in every attempt. */
  readonly trigger: unknown
  /** 1 for the first worker that has it. */
  readonly attempt: number
  /** Never goes backwards from one worker to the next. */
  readonly epoch: number
}

export type Body<T> = (run: Run) => T | Promise<T>

export interface Work<T> {
  readonly agent: string
  readonly key: string
  readonly trigger: unknown
  readonly via: readonly Link[]
  readonly terms: RunTerms
  readonly body: Body<T>
}

export async function work<T>(desk: Desk, attempt: Attempt, todo: Work<T>): Promise<T> {
  const { agent, terms } = todo
  const sinceMs = desk.timers.elapsedMs()
  const stopped = new AbortController()
  const waiting = new AbortController()
  function stop(reason: unknown): void {
    stopped.abort(reason)
    waiting.abort(reason)
  }
  // Reading the signal of an attempt makes it: from here on it speaks up when the lease is lost.
  attempt.signal.addEventListener('abort', () => stop(attempt.signal.reason), { once: true })
  const runId = runIdOf({ tenant: attempt.tenant, agent, key: todo.key }, attempt.createdAt)
  await refuseCancelled(desk, attempt, agent, runId)
  const leave = await desk.admission.enter(attempt, agent, terms, stopped.signal, stop)
  const id = atWorkId(attempt)
  const { tenant } = attempt
  const handOver = (): void => waiting.abort(handedOver(runId))
  desk.atWork.set(id, { tenant, agent, runId, stop, handOver })
  if (desk.isClosing()) handOver()
  try {
    const active: ActiveRun = {
      ibid: desk.ibid,
      timers: desk.timers,
      runId,
      tenant,
      agent,
      terms,
      signal: stopped.signal,
      waiting: waiting.signal,
      chain: [...todo.via, { scope: attempt.scope, key: attempt.key }],
      // An epoch is the store's clock in microseconds, read when this attempt began.
      storeNow: () => attempt.epoch / 1_000 + (desk.timers.elapsedMs() - sinceMs),
    }
    return await todo.body(asRun(active, attempt, todo))
  } catch (error) {
    throw verdict(runId, error, stopped.signal)
  } finally {
    desk.atWork.delete(id)
    await leave()
  }
}

function asRun<T>(active: ActiveRun, attempt: Attempt, { key, trigger }: Work<T>): Run {
  const { runId, tenant, agent } = active
  const facts = { runId, tenant, agent, key, trigger, attempt: attempt.number, epoch: attempt.epoch }
  return Object.assign(stepsOf(active, ''), facts)
}

/** A run that was called off while it had no worker is not taken up again. */
async function refuseCancelled(desk: Desk, attempt: Attempt, agent: string, runId: string): Promise<void> {
  if (attempt.number === 1) return
  const flag = await desk.ibid.get(cancelWhere(attempt.tenant, agent, runId))
  if (flag?.state === 'succeeded') throw cancelled(runId, flag.value as By)
}

/** What the end of the code means for the run's receipt. */
function verdict(runId: string, error: unknown, stopped: AbortSignal): unknown {
  const reason: unknown = stopped.reason
  if (stopped.aborted && reason instanceof Rejected) return reason
  if (error instanceof OutcomeUnknown && error.code === 'OUTCOME_UNKNOWN') return heldBy(runId, error)
  return error
}
