/**
 * The two halves of a step, each under a receipt of its own: `forward` does it, `settleForward` finds out for the
 * rollback whether it was done and closes it for good where it was not, `undo` takes it back.
 */
import { IbidError, OutcomeUnknown, Rejected } from '../../core/errors.js'
import type { Attempt, Policy } from '../../core/policy.js'
import type { Ibid } from '../../ibid.js'
import { halvesOf, type Planned, type SagaNames } from './plan.js'
import type { Step, StepAttempt } from './step.js'

/** The code of a forward half that never ran and never will. */
export const ROLLED_BACK = 'SAGA_ROLLED_BACK'

export function createHalves(ibid: Ibid, names: SagaNames, windowMs: number) {
  /** Plan and receipts are kept twice the window: what a step did within it can be undone for as long again. */
  const keepMs = windowMs * 2

  function handed(attempt: Attempt, plan: Planned): StepAttempt {
    const { workflowId, jobId } = names
    const { tenant, scope, key, number, epoch, createdAt, isFirst } = attempt
    return {
      tenant,
      scope,
      key,
      number,
      epoch,
      createdAt,
      isFirst,
      workflowId,
      jobId,
      step: plan.name,
      input: plan.input,
      // Made when somebody asks for it: a copy of the attempt would not have it.
      get signal() {
        return attempt.signal
      },
    }
  }

  function forwardPolicy(step: Step, plan: Planned): Policy {
    const check = step.check?.bind(step)
    const recovery = check && { check: (attempt: Attempt) => check(handed(attempt, plan)) }
    return { ...step.policy, window: keepMs, ...(recovery && { recovery }) }
  }

  /** Both ways to the forward receipt: the first that claims it decides whether the step ever runs. */
  async function claimForward(
    step: Step,
    plan: Planned,
    run: (attempt: StepAttempt) => unknown,
  ): Promise<unknown> {
    const intent = { ...halvesOf(plan).forward, payload: plan.input ?? null }
    const effect = async (attempt: Attempt): Promise<unknown> => await run(handed(attempt, plan))
    return (await ibid.once(intent, effect, forwardPolicy(step, plan))).value
  }

  return {
    keepMs,

    async forward(step: Step, plan: Planned): Promise<unknown> {
      return await claimForward(step, plan, (attempt) => {
        // A plan that is forgotten before its step would leave something that no rollback finds.
        if (attempt.epoch / 1_000 <= plan.plannedAt + windowMs) return step.do(attempt)
        throw neverDone(step, attempt) ? tooOld(plan) : tooOldToRepeat(plan)
      })
    },

    /**
     * What the forward half returned. Rejected: it was refused, or never ran and now never will. Where an attempt
     * ended without a word, the step's check is asked; a step declared safe to repeat is repeated under its key.
     */
    async settleForward(step: Step, plan: Planned): Promise<unknown> {
      return await claimForward(step, plan, (attempt) => {
        if (neverDone(step, attempt)) throw neverRan(plan)
        return step.do(attempt)
      })
    },

    /** True: it was undone before this call. */
    async undo(step: Step, plan: Planned, result: unknown): Promise<boolean> {
      const check = step.checkUndo?.bind(step)
      const recovery = check && { check: (attempt: Attempt) => check(result, handed(attempt, plan)) }
      const { replayed } = await ibid.once<unknown>(
        { ...halvesOf(plan).undo, payload: null },
        async (attempt) => await step.undo(result, handed(attempt, plan)),
        { ...step.undoPolicy, window: keepMs, ...(recovery && { recovery }) },
      )
      return replayed
    },

    /** Holds an undo that only a person can do: there is a receipt to resolve. True: it was resolved as done. */
    async holdUndo(plan: Planned): Promise<boolean> {
      const hold = (): never => {
        throw resultLost(plan)
      }
      return (await ibid.once({ ...halvesOf(plan).undo, payload: null }, hold, { window: keepMs })).replayed
    },
  }
}

/** No earlier attempt ended without a word, or the step's check has just said that it did nothing. */
function neverDone(step: Step, attempt: StepAttempt): boolean {
  return step.check !== undefined || attempt.number === 1
}

function neverRan({ name }: Planned): Rejected {
  return new Rejected(`the saga was rolled back before step ${JSON.stringify(name)} ran; it did nothing`, {
    code: ROLLED_BACK,
    action: 'do not repeat it: start a saga under a new workflow or job id',
  })
}

function tooOld({ name }: Planned): Rejected {
  return new Rejected(
    `step ${JSON.stringify(name)} was planned longer ago than the saga's window; it did nothing`,
    {
      code: 'SAGA_EXPIRED',
      action:
        'roll the saga back, and start one under a new workflow or job id; or give createSaga a longer window',
    },
  )
}

/** Not a refusal: that would say for good that there is nothing to undo. The rollback finds out. */
function tooOldToRepeat({ name }: Planned): IbidError {
  return new IbidError(
    `step ${JSON.stringify(name)} was planned longer ago than the saga's window; it was not repeated, and may have happened before`,
    {
      code: 'SAGA_EXPIRED',
      retriable: false,
      action: 'roll the saga back, which finds out what there is to undo; give createSaga a longer window',
    },
  )
}

function resultLost({ name }: Planned): OutcomeUnknown {
  return new OutcomeUnknown(
    `step ${JSON.stringify(name)} was done, but what it returned could not be kept, and its undo needs that`,
    { action: 'undo it by hand, resolve the receipt of its undo as succeeded, and call compensate() again' },
  )
}
