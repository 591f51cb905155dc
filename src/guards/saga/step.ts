/**
 * A step of a saga as its author writes it: what it does, how that is undone, how either can be looked up, and
 * what its code is handed. Definitions are found again by name, so that a process that never ran the step can
 * undo it.
 */
import { invalidIntent } from '../../core/errors.js'
import { onlyKnown } from '../../core/known.js'
import type { Attempt, CheckResult, Policy } from '../../core/policy.js'

/** What the code of a step is handed: the attempt, and what the plan wrote down. */
export interface StepAttempt<I = unknown> extends Attempt {
  readonly workflowId: string
  readonly jobId: string | undefined
  readonly step: string
  readonly input: I
}

/** The window is the saga's, and `check` stands beside the code that it speaks for. */
export type StepPolicy = Omit<Policy, 'window' | 'recovery'> & { readonly recovery?: 'hold' | 'retry' }

export interface Step<T = unknown, I = unknown> {
  /** Unique in the saga. */
  readonly name: string
  readonly topic?: string
  readonly capability?: string
  /** Kept with the plan, so that `undo` has it in whichever process it runs. */
  readonly input?: I
  do(step: StepAttempt<I>): T | Promise<T>
  undo(result: T, step: StepAttempt<I>): unknown
  /** Did `do` happen? Asked before a step whose outcome nobody reported is repeated or undone. */
  check?(step: StepAttempt<I>): CheckResult<T> | Promise<CheckResult<T>>
  /** Did `undo` happen? */
  checkUndo?(result: T, step: StepAttempt<I>): CheckResult<unknown> | Promise<CheckResult<unknown>>
  readonly policy?: StepPolicy
  readonly undoPolicy?: StepPolicy
}

const KNOWN = [
  'name',
  'topic',
  'capability',
  'input',
  'do',
  'undo',
  'check',
  'checkUndo',
  'policy',
  'undoPolicy',
] satisfies (keyof Step)[]
/** Leaves room for what the scope of a receipt says besides. */
const LONGEST_NAME = 200

export function checkStep(step: Step): void {
  if (typeof step?.name !== 'string' || step.name === '' || step.name.length > LONGEST_NAME) {
    throw invalidIntent(
      'a step of the saga has no usable name',
      `give every step a name of 1 to ${LONGEST_NAME} characters`,
    )
  }
  onlyKnown(step, KNOWN, `step ${JSON.stringify(step.name)}`)
  for (const part of ['do', 'undo'] as const) {
    if (typeof step[part] === 'function') continue
    throw invalidIntent(
      `step ${JSON.stringify(step.name)} has no function ${part}`,
      'give it both do and undo; where nothing has to be undone, write undo: () => {}',
    )
  }
  checkPolicy(step, 'check', step.policy)
  checkPolicy(step, 'checkUndo', step.undoPolicy)
}

function checkPolicy(step: Step, check: 'check' | 'checkUndo', policy: StepPolicy = {}): void {
  if (step[check] !== undefined && policy.recovery !== undefined) {
    throw invalidIntent(
      `step ${JSON.stringify(step.name)} declares both ${check} and a recovery`,
      `leave one of them out: ${check} is a recovery`,
    )
  }
  if ('window' in policy) {
    throw invalidIntent(
      `step ${JSON.stringify(step.name)} declares a window of its own`,
      'give the window to createSaga: a step that is forgotten before its plan could not be undone',
    )
  }
}
