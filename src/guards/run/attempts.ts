/**
 * How many of its attempts a run has used up. Its receipt counts claims, and some claims are no attempt: one whose
 * worker closed while the run slept, and one that found nothing left and ran nothing. Those are written down beside the
 * run. A worker that dies writes nothing, so its attempt counts, also where the run only slept: nobody is left who
 * could say that it was not the run that took its worker down, and such a run must not be tried for ever.
 */
import type { Attempt } from '../../core/policy.js'
import type { Ibid } from '../../ibid.js'
import { sparedWhere } from './names.js'
import type { RunTerms } from './terms.js'

/** A claim of a run's receipt. */
export interface Claimed {
  readonly attempt: Attempt
  readonly runId: string
  readonly terms: RunTerms
  /** When it was claimed, by this worker's own elapsed time. */
  readonly sinceMs: number
}

const PAGE = 1_000

/** This claim counts for nothing. */
export async function spare(ibid: Ibid, { attempt, runId, terms }: Claimed, why: string): Promise<void> {
  const where = sparedWhere(attempt.tenant, runId, attempt.epoch)
  const policy = { window: terms.stepWindowMs, lease: terms.leaseMs, recovery: 'retry' } as const
  await ibid.once(where, () => why, policy)
}

/** This one included. Nothing is read where there cannot be too many. */
export async function attemptsUsed(ibid: Ibid, { attempt, runId, terms }: Claimed): Promise<number> {
  if (attempt.number < terms.maxAttempts) return attempt.number
  const { tenant, scope } = sparedWhere(attempt.tenant, runId, attempt.epoch)
  let spared = 0
  let cursor: string | undefined
  do {
    const page = await ibid.list({ tenant, scope, limit: PAGE, cursor })
    spared += page.receipts.length
    cursor = page.cursor
  } while (cursor !== undefined)
  return attempt.number - spared
}
