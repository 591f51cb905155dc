/**
 * Calling a run off. A flag beside the run, a settled receipt, is what every worker can see: the one that has the run
 * looks for it now and then and aborts the run's signal, and none takes a flagged run up again. A run without a
 * worker is ended here and now. What has committed stands.
 */
import { IbidError } from '../../core/errors.js'
import { mustSay } from '../../core/on-record.js'
import { atWorkId, type Desk } from './desk.js'
import { cancelWhere, nameOf, runIdOf, runWhere, triggerWhere } from './names.js'
import { type By, cancelled, isInFlight, noSuchRun } from './refusals.js'
import type { Kept } from './start.js'

/** `cancelling`: its worker has been told, and stops at its next step. `ended`: it was over before. */
export type Cancelled = 'cancelled' | 'cancelling' | 'ended'

export async function cancel(
  desk: Desk,
  runId: string,
  who: By,
  tenantGiven: string | undefined,
): Promise<Cancelled> {
  // Asked before anything is written: a flag by nobody would call the run off all the same.
  mustSay('by', who?.by)
  mustSay('why', who?.why)
  const name = nameOf(runId, tenantGiven)
  const where = runWhere(name)
  const receipt = await desk.ibid.get(where)
  if (!receipt || runIdOf({ ...name, tenant: receipt.tenant }, receipt.createdAt) !== runId) {
    throw noSuchRun(runId)
  }
  if (receipt.state === 'succeeded' || receipt.state === 'failed') return endOf(receipt.error)
  const { tenant } = receipt
  const flag = { by: who.by, why: who.why }
  const trigger = await desk.ibid.get(triggerWhere({ ...name, tenant }, receipt.fingerprint))
  const { stepWindowMs, leaseMs } = desk.terms
  await desk.ibid.once(cancelWhere(tenant, name.agent, runId), () => flag, {
    // As long as the run can be resumed, by the terms of the agent, which need not be those of this desk.
    window: Math.max(stepWindowMs, trigger?.windowMs ?? 0),
    lease: leaseMs,
    recovery: 'retry',
  })
  const refusal = cancelled(runId, flag)
  desk.atWork.get(atWorkId(receipt))?.stop(refusal)
  async function endHeld(): Promise<Cancelled> {
    await desk.ibid.resolve({ ...where, tenant }, { as: 'failed', error: refusal }, who)
    return 'cancelled'
  }
  if (receipt.state === 'unknown') return await endHeld()
  if (!trigger) return 'cancelling'
  // Only whoever may claim the run can end it: where its lease is alive, this changes nothing.
  const payload = (trigger.value as Kept).print
  const intent = { ...where, tenant, payload }
  // Kept for as long as its own end would have been: forgotten earlier, a tick of it would be caught up after all.
  const policy = { wait: 0, recovery: 'retry', window: receipt.windowMs } as const
  const effect = (): Promise<never> => Promise.reject(refusal)
  try {
    await desk.ibid.once(intent, effect, policy)
    return 'ended'
  } catch (error) {
    if (isInFlight(error, where)) return 'cancelling'
    if (error instanceof IbidError && error.code === 'OUTCOME_UNKNOWN') return await endHeld()
    if (error instanceof IbidError && (error.code === 'CANCELLED' || error.replayed)) return endOf(error)
    throw error
  }
}

function endOf(error: { readonly code: string } | undefined): Cancelled {
  return error?.code === 'CANCELLED' ? 'cancelled' : 'ended'
}

/** Looks, for each run that this process is at work on, whether it was called off elsewhere. */
export async function obeyCancels(desk: Desk): Promise<void> {
  await Promise.all(
    desk.atWork.values().map(async ({ tenant, agent, runId, stop }) => {
      const flag = await desk.ibid.get(cancelWhere(tenant, agent, runId))
      if (flag?.state === 'succeeded') stop(cancelled(runId, flag.value as By))
    }),
  )
}
