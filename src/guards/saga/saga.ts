/**
 * `createSaga`: steps that are done once and, if the saga is given up, undone once. Before a step runs its plan is
 * in the store, with the key of its undo, so that a crash at any moment leaves a rollback everything it needs.
 */
import { type Duration, toMs } from '../../core/duration.js'
import { IbidError, invalidIntent } from '../../core/errors.js'
import { onlyKnown } from '../../core/known.js'
import type { Ibid } from '../../ibid.js'
import { problemOf } from '../../key/part.js'
import { createHalves, ROLLED_BACK } from './halves.js'
import { createPlans, type SagaNames } from './plan.js'
import { rollBack, type Rollback, type RollbackOptions } from './rollback.js'
import { checkStep, type Step } from './step.js'

export interface SagaOptions {
  readonly ibid: Ibid
  /** Leave it out where createIbid was given one. */
  readonly tenant?: string
  readonly workflowId: string
  readonly jobId?: string
  /** The code of steps that this process did not run, but may have to undo. */
  readonly steps?: readonly Step[]
  /** Steps start within it, and can be undone for as long again. Default 30 days. */
  readonly window?: Duration
}

export interface Saga {
  /** Do this step once, and give what it returned. Throws SAGA_ROLLED_BACK when the rollback has begun. */
  step<T, I = undefined>(step: Step<T, I>): Promise<T>
  /** Undo what was done, last step first, each once. Call it again, from anywhere, until it is `complete`. */
  compensate(options?: RollbackOptions): Promise<Rollback>
}

const KNOWN = ['ibid', 'tenant', 'workflowId', 'jobId', 'steps', 'window'] satisfies (keyof SagaOptions)[]

export function createSaga(options: SagaOptions): Saga {
  onlyKnown(options, KNOWN, 'createSaga')
  const { ibid, tenant, workflowId, jobId } = options
  checkId('workflowId', workflowId)
  if (jobId !== undefined) checkId('jobId', jobId)
  const names: SagaNames = { tenant, workflowId, jobId }
  const halves = createHalves(ibid, names, toMs(options.window ?? '30d', 'window'))
  const plans = createPlans(ibid, names, halves.keepMs)
  const steps = new Map<string, Step>()

  for (const step of options.steps ?? []) {
    checkStep(step)
    steps.set(step.name, step)
  }

  return {
    async step<T, I>(step: Step<T, I>): Promise<T> {
      checkStep(step)
      // Known before its plan, whose answer may be lost; but one that is refused must not undo what another did.
      if (!steps.has(step.name)) steps.set(step.name, step)
      const plan = await plans.write(step)
      steps.set(step.name, step)
      // After the plan, never before: a rollback marks first and lists then, so one of the two sees the other.
      if (await plans.isRolledBack()) throw rolledBack(workflowId, step.name)
      return (await halves.forward(step, plan)) as T
    },
    async compensate(how = {}) {
      onlyKnown(how, ['onStuck'], 'saga.compensate')
      return await rollBack({ ibid, plans, halves, steps }, how)
    },
  }
}

function checkId(field: string, id: unknown): void {
  const problem = typeof id === 'string' ? problemOf(id) : 'not a string'
  if (problem === undefined) return
  throw invalidIntent(
    `${field} is ${problem}`,
    `give createSaga a ${field} that stays the same when it is resumed`,
  )
}

function rolledBack(workflowId: string, step: string): IbidError {
  return new IbidError(
    `the rollback of saga ${JSON.stringify(workflowId)} has begun; step ${JSON.stringify(step)} did nothing`,
    {
      code: ROLLED_BACK,
      retriable: false,
      action: 'let compensate() finish, and start a saga under a new workflow or job id',
    },
  )
}
