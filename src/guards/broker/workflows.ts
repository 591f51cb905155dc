/**
 * The stable ids of a step, taken out of the contexts that workflow engines hand to it: never the attempt
 * number, which changes exactly when the key must not. The engines are known by the shape of their contexts
 * only.
 */
import { invalidIntent } from '../../core/errors.js'
import { canonicalJson } from '../../key/index.js'

/** Spread it into the context of a call. */
export interface StepIds {
  readonly runId: string
  readonly stepId: string
}

export const stepIds = {
  /** In an activity, of a workflow or standing alone: `stepIds.temporal(Context.current().info)`. */
  temporal(info: {
    readonly workflowExecution?: { readonly workflowId: string; readonly runId: string } | undefined
    readonly activityId: string
    readonly activityRunId?: string | undefined
  }): StepIds {
    const { workflowExecution, activityId, activityRunId } = info
    if (!workflowExecution && activityRunId !== undefined) {
      return ids('temporal', ['standing alone', activityId, activityRunId], [activityId])
    }
    return ids('temporal', [workflowExecution?.workflowId, workflowExecution?.runId], [activityId])
  },

  /** In a handler: `stepIds.restate(ctx, 'refund')`, with the name that the step has in `ctx.run`. */
  restate(ctx: { request(): { readonly id: Uint8Array | string } }, name: string): StepIds {
    const { id } = ctx.request()
    return ids('restate', [typeof id === 'string' ? id : Buffer.from(id).toString('hex')], [name])
  },

  /** In a step: `stepIds.dbos(DBOS)`. */
  dbos(dbos: { readonly workflowID?: string | undefined; readonly stepID?: number | undefined }): StepIds {
    return ids('dbos', [dbos.workflowID], [dbos.stepID])
  },

  /** `stepIds.inngest(ctx, stepInfo)`: the function's context and what middleware is told of the step. */
  inngest(ctx: { readonly runId: string }, stepInfo: { readonly hashedId: string }): StepIds {
    return ids('inngest', [ctx.runId], [stepInfo.hashedId])
  },

  /** In a task: `stepIds.triggerDev(ctx, 'refund')`, with a name of your own for the place in the task. */
  triggerDev(ctx: { readonly run: { readonly id: string } }, name: string): StepIds {
    return ids('trigger.dev', [ctx.run.id], [name])
  },
} as const

type Part = string | number | undefined

/** Canonical JSON, so that parts cannot run into each other, and no engine's ids are another's. */
function ids(engine: string, run: readonly Part[], step: readonly Part[]): StepIds {
  for (const part of [...run, ...step]) {
    if (part !== undefined && part !== '') continue
    throw invalidIntent(
      `the ${engine} context has no id for this step`,
      'take the ids inside the step itself, where the engine knows which one is running',
    )
  }
  return { runId: canonicalJson([engine, ...run]), stepId: canonicalJson(step) }
}
