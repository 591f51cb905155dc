/**
 * The rollback: last step first, find out whether it was done, undo it if it was. Everything that it does stands in
 * receipts, so it can be cut off anywhere and begun again, by any process that has the code of the steps. What it
 * could not undo it lists, with what is known, for a person.
 */
import { IbidError, Rejected } from '../../core/errors.js'
import type { Ibid, Where } from '../../ibid.js'
import type { createHalves } from './halves.js'
import { halvesOf, type Planned, type Plans } from './plan.js'
import type { Step } from './step.js'

export interface RolledBack {
  readonly step: string
  readonly input: unknown
  /** The receipts of its two halves: where a person looks, and what a person resolves. */
  readonly forward: Where & { readonly state: string }
  readonly undo: Where & { readonly state: string }
}

export interface Undone extends RolledBack {
  /** It was undone by an earlier rollback. */
  readonly replayed: boolean
}

export interface Skipped extends RolledBack {
  /** Why there was nothing to undo. */
  readonly why: string
}

export interface Stuck extends RolledBack {
  readonly code: string
  readonly why: string
  readonly action: string
  /** May the rollback simply be tried again? Otherwise a person comes first. */
  readonly retriable: boolean
  /** What the step returned, where that is known. */
  readonly result?: unknown
}

export interface Rollback {
  /** Nothing of the saga is left: every step was undone, or never happened. */
  readonly complete: boolean
  readonly undone: readonly Undone[]
  readonly skipped: readonly Skipped[]
  readonly stuck: readonly Stuck[]
}

export interface RollbackOptions {
  /**
   * What a step that cannot be undone means for the ones before it: `continue` (the default) undoes them all the
   * same, `stop` leaves them until a person has decided.
   */
  readonly onStuck?: 'continue' | 'stop'
}

interface Room {
  readonly ibid: Ibid
  readonly plans: Plans
  readonly halves: ReturnType<typeof createHalves>
  readonly steps: ReadonlyMap<string, Step>
}

type Judged =
  | { readonly kind: 'undone'; readonly replayed: boolean }
  | { readonly kind: 'skipped'; readonly why: string }
  | ({ readonly kind: 'stuck' } & Pick<Stuck, 'code' | 'why' | 'action' | 'retriable' | 'result'>)

const TIMED_OUT = 'UPSTREAM_TIMEOUT'
const AGAIN = 'call compensate() again: its policy allows that it is tried again'

export async function rollBack(room: Room, { onStuck = 'continue' }: RollbackOptions): Promise<Rollback> {
  await room.plans.beginRollback()
  const undone: Undone[] = []
  const skipped: Skipped[] = []
  const stuck: Stuck[] = []
  let waitsFor: Stuck | undefined
  for (const plan of (await room.plans.all()).toReversed()) {
    const judged = waitsFor ? notTried(waitsFor) : await undoOne(room, plan)
    const known = await factsOf(room.ibid, plan)
    if (judged.kind === 'undone') undone.push({ ...known, replayed: judged.replayed })
    else if (judged.kind === 'skipped') skipped.push({ ...known, why: judged.why })
    else {
      const { kind: _, ...why } = judged
      stuck.push({ ...known, ...why })
      // Something of this step is still running: what came before it has to wait.
      if (onStuck === 'stop' || isRunning(judged.code)) waitsFor ??= stuck.at(-1)
    }
  }
  return { complete: stuck.length === 0, undone, skipped, stuck }
}

async function undoOne({ halves, steps }: Room, plan: Planned): Promise<Judged> {
  const step = steps.get(plan.name)
  if (!step) return unregistered(plan)
  let result: unknown
  try {
    result = await halves.settleForward(step, plan)
  } catch (error) {
    if (error instanceof Rejected) return { kind: 'skipped', why: error.message }
    if (isDone(error)) return await leaveToPerson(halves, plan)
    return stuckBy(error, 'it is not known whether there is something to undo')
  }
  try {
    return { kind: 'undone', replayed: await halves.undo(step, plan, result) }
  } catch (error) {
    return { ...stuckBy(error, 'it was not undone'), result }
  }
}

/** It happened, but what it returned was too much for the store: its code has nothing to undo it with. */
function isDone(error: unknown): boolean {
  if (!(error instanceof IbidError) || error.code !== 'VALUE_NOT_RETAINED') return false
  return error.receipt?.state === 'succeeded'
}

async function leaveToPerson(halves: Room['halves'], plan: Planned): Promise<Judged> {
  try {
    return { kind: 'undone', replayed: await halves.holdUndo(plan) }
  } catch (error) {
    return stuckBy(error, 'it was not undone')
  }
}

function stuckBy(error: unknown, meaning: string): Extract<Judged, { kind: 'stuck' }> {
  if (error instanceof IbidError) {
    const { code, message, action, retriable } = error
    // Without its store a rollback knows nothing, and there is nothing to list.
    if (code === 'STORE_UNAVAILABLE' || code === 'CLOSED') throw error
    const why = `${meaning}: ${message}`
    // Where the policy were to hold it, this would be OUTCOME_UNKNOWN.
    if (code === TIMED_OUT) return { kind: 'stuck', code, why, action: AGAIN, retriable: true }
    return { kind: 'stuck', code, why, action, retriable }
  }
  const said = error instanceof Error ? error.message : String(error)
  return { kind: 'stuck', code: 'UNDO_FAILED', why: `${meaning}: ${said}`, action: AGAIN, retriable: true }
}

function unregistered({ name }: Planned): Judged {
  return {
    kind: 'stuck',
    code: 'STEP_NOT_REGISTERED',
    why: `this process has no code for step ${JSON.stringify(name)}; it was not undone`,
    action: 'give createSaga the step in steps, and call compensate() again',
    retriable: false,
  }
}

function notTried({ step, retriable }: Stuck): Judged {
  return {
    kind: 'stuck',
    code: 'NOT_TRIED',
    why: `step ${JSON.stringify(step)} comes first, and could not be undone; this one was not touched`,
    action: `see to step ${JSON.stringify(step)}, then call compensate() again`,
    retriable,
  }
}

/** What was not waited for any longer may go on all the same. */
function isRunning(code: string): boolean {
  return code === 'RETRY_IN_FLIGHT' || code === 'LEASE_LOST' || code === TIMED_OUT
}

async function factsOf(ibid: Ibid, plan: Planned): Promise<RolledBack> {
  const { forward, undo } = halvesOf(plan)
  const [done, taken] = await Promise.all([ibid.get(forward), ibid.get(undo)])
  return {
    step: plan.name,
    input: plan.input,
    forward: { ...forward, state: done?.state ?? 'absent' },
    undo: { ...undo, state: taken?.state ?? 'absent' },
  }
}
