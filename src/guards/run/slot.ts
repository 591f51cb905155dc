/**
 * A slot: one of the N receipts of a tenant's agent that stand for N active runs. Whoever holds its lease has the
 * slot, over all processes; a worker that dies loses it with the lease. It never settles: it is held, and given back.
 */
import { IbidError, NotExecuted } from '../../core/errors.js'
import type { Ibid, Where } from '../../ibid.js'
import { UNLIMITED } from './terms.js'

export interface Slot {
  /** Returns when the slot is free for others. */
  release(): Promise<void>
}

/** Long past any pause in which nobody asks for a slot. */
const WINDOW = '3650d'

/** The slot, or undefined where somebody else has it. `onLost`: its lease was lost, and others may have it. */
export async function takeSlot(
  ibid: Ibid,
  where: Where,
  leaseMs: number,
  onLost: (error: unknown) => void,
): Promise<Slot | undefined> {
  const policy = {
    lease: leaseMs,
    wait: 0,
    window: WINDOW,
    recovery: 'retry',
    ...UNLIMITED,
  } as const
  return await new Promise((resolve, reject) => {
    let letGo: (() => void) | undefined
    let released = false
    const held: Promise<void> = ibid
      .once(
        where,
        () =>
          new Promise<never>((_, giveBack) => {
            letGo = () => giveBack(new NotExecuted('the run ended, and its slot is free'))
            resolve({
              async release() {
                released = true
                letGo?.()
                await held
              },
            })
          }),
        policy,
      )
      .then(
        () => resolve(undefined),
        (error: unknown) => {
          if (letGo === undefined) {
            if (isTaken(error)) resolve(undefined)
            else reject(error)
          } else if (!released) onLost(error)
        },
      )
  })
}

function isTaken(error: unknown): boolean {
  return error instanceof IbidError && (error.code === 'RETRY_IN_FLIGHT' || error.code === 'OUTCOME_UNKNOWN')
}
