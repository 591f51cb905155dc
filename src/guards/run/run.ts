/**
 * One attempt at a run, inside its receipt's lease: admission, the steps that its code takes, and what the way in which
 * the code ends means for the run. An error that says nothing leaves the run to the next attempt, which skips the steps
 * that committed; a held or a diverging step holds the run for a person.
 */
import { NotExecuted, OutcomeUnknown, Rejected } from '../../core/errors.js'
import type { Attempt } from '../../core/policy.js'
import type { ReceiptView } from '../../core/receipt.js'
import type { ActiveRun } from './active-run.js'
import { attemptsUsed, type Claimed, spare } from './attempts.js'
import type { Link } from './chain.js'
import { type AtWork, atWorkId, type Desk } from './desk.js'
import { createEnds, type Ends } from './ends.js'
import { cancelWhere, stepScope } from './names.js'
import { attemptOver, type By, cancelled, heldBy, timedOut, tooOld, usedUp } from './refusals.js'
import { type Steps, stepsOf } from './steps.js'
import { type RunTerms, stepPolicy } from './terms.js'
import { createTimeLimit, type TimeLimit } from './time-limit.js'
import { droppable } from './timers.js'

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
  readonly runId: string
  readonly agent: string
  readonly key: string
  readonly trigger: unknown
  readonly via: readonly Link[]
  /** What keeps the trigger, as it is now. */
  kept(this: void): Promise<ReceiptView | undefined>
  readonly terms: RunTerms
  readonly body: Body<T>
  /** When it was claimed, by this worker's own elapsed time. */
  readonly sinceMs: number
}

export async function work<T>(desk: Desk, attempt: Attempt, todo: Work<T>): Promise<T> {
  const { agent, runId, terms, sinceMs } = todo
  const claimed: Claimed = { attempt, runId, terms, sinceMs }
  const ends = createEnds(attempt, runId)
  const limit = createTimeLimit(desk.timers, terms.timeoutMs, () => timedOut(runId, terms.timeoutMs))
  limit.up.catch(ends.stop)
  const id = atWorkId(attempt)
  const { tenant } = attempt
  const mine: AtWork = { tenant, agent, runId, stop: ends.stop, handOver: ends.handOver }
  // From here on, not only once it was admitted: who waits for a slot can be called off, and handed over, as well.
  desk.atWork.set(id, mine)
  if (desk.isClosing()) ends.handOver()
  try {
    const keptUntilMs = await Promise.race([refuse(desk, claimed, todo), limit.up])
    const leave = await enter(desk, claimed, agent, ends, limit)
    try {
      return await attend(desk, claimed, todo, ends, limit, keptUntilMs)
    } finally {
      await leave()
    }
  } finally {
    limit.end()
    // Another attempt may be at work here by now, when this one has lost its lease.
    desk.atWork.take(id, mine)
  }
}

async function enter(
  desk: Desk,
  claimed: Claimed,
  agent: string,
  ends: Ends,
  limit: TimeLimit,
): Promise<() => Promise<void>> {
  const { attempt, terms } = claimed
  const wait = (ms: number): Promise<void> => limit.asleep(ends.sleep(desk.timers, ms))
  try {
    return await desk.admission.enter(attempt, agent, terms, wait, ends.stop)
  } catch (error) {
    throw await verdict(desk, claimed, ends, error)
  }
}

async function attend<T>(
  desk: Desk,
  claimed: Claimed,
  todo: Work<T>,
  ends: Ends,
  limit: TimeLimit,
  keptUntilMs: number,
): Promise<T> {
  const { attempt, runId, terms, sinceMs } = claimed
  const { tenant, scope, key, epoch, createdAt } = attempt
  const { agent } = todo
  const { stopped } = ends
  const own = droppable(desk.timers)
  let over = false
  try {
    const active: ActiveRun = {
      ibid: desk.ibid,
      runId,
      tenant,
      stepScope: stepScope(runId),
      agent,
      terms,
      stepPolicy: stepPolicy({}, undefined, terms),
      stopped,
      mustGoOn() {
        stopped.throwIfAborted()
        if (over) throw attemptOver(runId)
        // Not only when the attempt begins: it may begin in time, and come to its steps when they are forgotten.
        if (active.storeNow() > keptUntilMs) ends.stop(tooOld(runId, createdAt, 'this step was not executed'))
        stopped.throwIfAborted()
      },
      chain: [...todo.via, { scope, key }],
      // An epoch is the store's clock in microseconds, read when this attempt began.
      storeNow: () => epoch / 1_000 + (desk.timers.elapsedMs() - sinceMs),
      latestWakeMs: createdAt + terms.sleepMs,
      pause: (ms, inStep) => limit.asleep(ends.sleep(inStep ? desk.timers : own, ms)),
      atWork: (step) => limit.atWork(step),
    }
    // Code that hangs is left where it is when its time is up: its signal has aborted, and it takes no further step.
    const value = await Promise.race([todo.body(asRun(active, attempt, todo)), limit.up])
    // Nor is it asked what it made of being cut short: it may not have done all that it was to do.
    stopped.throwIfAborted()
    const left = ends.leftBehind()
    if (left) throw left
    return value
  } catch (error) {
    // A branch of the code that nobody waits for must not act for a run that has an outcome, or another worker.
    over = true
    throw await verdict(desk, claimed, ends, error)
  } finally {
    over = true
    // A sleep that is left over, of a race it lost, keeps no process alive. One in a step is part of what that does.
    own.drop()
  }
}

function asRun<T>(active: ActiveRun, attempt: Attempt, { key, trigger }: Work<T>): Run {
  const { runId, tenant, agent } = active
  const facts = { runId, tenant, agent, key, trigger, attempt: attempt.number, epoch: attempt.epoch }
  return Object.assign(stepsOf(active, ''), facts)
}

/**
 * A run that was called off while it had no worker is not taken up again, nor is one without attempts left, nor one
 * that was held or given back for so long that its first steps may be forgotten: it would do them again. Resolves to
 * the instant until which they are kept.
 */
async function refuse(desk: Desk, claimed: Claimed, { agent, kept }: Work<unknown>): Promise<number> {
  const { attempt, runId, terms } = claimed
  // Not one after it was given back: there is nothing beside it yet.
  if (attempt.isFirst) return attempt.createdAt + terms.stepWindowMs - terms.leaseMs
  const flag = await desk.ibid.get(cancelWhere(attempt.tenant, agent, runId))
  if (flag?.state === 'succeeded') throw cancelled(runId, flag.value as By)
  const keptUntilMs = await stepsKeptUntil(claimed, kept)
  if (attempt.epoch / 1_000 > keptUntilMs) throw tooOld(runId, attempt.createdAt, 'nothing was executed')
  if (attempt.number === 1 || (await attemptsUsed(desk.ibid, claimed)) <= terms.maxAttempts)
    return keptUntilMs
  // Else the attempt that a person grants it later would find itself counted twice.
  await spare(desk.ibid, claimed, 'no attempt was left')
  throw usedUp(runId, terms.maxAttempts)
}

/**
 * As long as its trigger is: that was written down before the first step, to be kept for as long, under the terms of
 * its time. One that was made later came again, when the first had been forgotten. A lease is more than the clocks of
 * one store differ, and than a step that may still begin takes to reach it.
 */
async function stepsKeptUntil({ attempt, terms }: Claimed, kept: Work<unknown>['kept']): Promise<number> {
  const { createdAt } = attempt
  const { leaseMs, stepWindowMs } = terms
  const trigger = await kept()
  if (!trigger || trigger.createdAt > createdAt + leaseMs) return createdAt
  return createdAt + Math.min(stepWindowMs, trigger.windowMs) - leaseMs
}

/** What the end of the code means for the run's receipt. */
async function verdict(desk: Desk, claimed: Claimed, ends: Ends, error: unknown): Promise<unknown> {
  const { runId, terms } = claimed
  const { reason } = ends.stopped
  if (reason instanceof Rejected || reason instanceof OutcomeUnknown) return reason
  // Before what the code says: a refusal may be what it made of its cut sleep.
  const left = ends.leftBehind()
  // A store that does not answer now leaves it counted, or to be counted by the next attempt.
  if (left) await spare(desk.ibid, claimed, 'its worker closed while it waited').catch(() => undefined)
  if (left) return left
  if (error instanceof OutcomeUnknown && error.code === 'OUTCOME_UNKNOWN') return heldBy(runId, error)
  if (error instanceof OutcomeUnknown || error instanceof Rejected || error instanceof NotExecuted)
    return error
  const used = await attemptsUsed(desk.ibid, claimed).catch(() => 0)
  return used >= terms.maxAttempts ? usedUp(runId, terms.maxAttempts, error) : error
}
