/**
 * A claim that the store did not answer may have been written all the same, for an effect that will never run.
 * Under a first claim nothing can have happened, so the key is given back as soon as the store can be reached;
 * without this, an outage would leave receipts for a person to decide about. Where it is not there yet, it may still
 * come, as a commit does that waits for a standby: it is looked for until its lease would be over, or the engine
 * closes. Later attempts are left to lapse: an earlier one may have done something.
 */
import { ownerDraft } from '../core/drafts.js'
import { type Address, asWritten, type Draft } from '../core/receipt.js'
import type { Room } from './room.js'
import { announce } from './settle.js'

const FIRST_MS = 100
const LONGEST_MS = 10_000

export function abandon(room: Room, draft: Address & Pick<Draft, 'token' | 'leaseMs'>): void {
  const stopMs = room.timers.elapsedMs() + draft.leaseMs

  function later(afterMs: number): void {
    const leftMs = stopMs - room.timers.elapsedMs()
    if (leftMs > 0) room.errands.after(Math.min(afterMs, leftMs), () => void turn(afterMs))
  }

  async function turn(waitedMs: number): Promise<void> {
    const isSeen = await giveBack(room, draft).catch(() => false)
    if (!isSeen) later(Math.min(waitedMs * 2, LONGEST_MS))
  }

  later(FIRST_MS)
}

/** False: there is nothing yet. Otherwise nothing is left to do: it was given back, or it is not ours any more. */
async function giveBack(room: Room, { token, ...address }: Address & Pick<Draft, 'token'>): Promise<boolean> {
  const { receipt } = await room.commit.get(address)
  if (!receipt) return false
  if (receipt.token !== token || receipt.state !== 'pending' || receipt.attempt > 1) return true
  const next = ownerDraft(receipt, 'release', null, 'the claim was never answered, nothing ran')
  const change = { expect: { token, state: receipt.state }, next }
  const swapped = await room.commit.swap(change)
  if (swapped.done) announce(room, asWritten(next, swapped.now, swapped.epoch), change)
  return true
}
