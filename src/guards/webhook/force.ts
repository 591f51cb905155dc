/**
 * The force path: a delivery that was handled is handled again, because the program says so for this one. Who and why
 * are on record, in a receipt of their own, before anything runs; and the repetition itself happens once.
 */
import { invalidIntent } from '../../core/errors.js'
import type { Ibid, Where } from '../../ibid.js'
import { intentKey } from '../../key/index.js'
import type { ForceOrder } from './event.js'
import { digestOf } from './mac.js'

/** Longer than any webhook's window: the record outlives what it explains. */
const RECORD_WINDOW = '30d'

/** Where the forced execution has its receipt. The order's own stands beside it, under `…:force`. */
export async function recordForce(ibid: Ibid, where: Where, order: ForceOrder): Promise<Where> {
  const { run, by, why } = order
  for (const [field, value] of Object.entries({ run, by, why })) checkText(field, value)
  const key = keyOf(where.key, run)
  await ibid.once(
    { ...where, scope: `${where.scope}:force`, key, payload: { by, why } },
    () => ({ event: where.key, run, by, why }),
    // Writing down is all it does: that is safe to repeat.
    { window: RECORD_WINDOW, recovery: 'retry', maxAttempts: 1_000 },
  )
  return { ...where, scope: `${where.scope}:forced`, key }
}

/** A key has 255 characters; what does not fit is hashed. */
function keyOf(event: string, run: string): string {
  const fits = encodeURIComponent(event + run).length <= 254
  return fits ? intentKey`${event}:${run}` : `${digestOf(event)}:${digestOf(run)}`
}

function checkText(field: string, value: unknown): void {
  if (typeof value === 'string' && value.trim() !== '' && value.length <= (field === 'run' ? 64 : 1_000))
    return
  throw invalidIntent(
    `${field} of the force order is missing or too long`,
    'let force(event) give { run, by, why }: what this repetition is called, who wants it, and why',
  )
}
