/**
 * A claim that the store did not answer may have been written all the same, for an effect that will never run.
 * Under a first claim nothing can have happened, so the key is given back as soon as the store can be reached;
 * without this, an outage would leave receipts for a person to decide about. Later attempts are left to lapse:
 * an earlier one may have done something.
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
    if (room.timers.elapsedMs() + afterMs > stopMs) return
    room.timers.after(afterMs, () => void giveBack(afterMs), 'background')
  }

  async function giveBack(waitedMs: number): Promise<void> {
    try {
      const { receipt } = await room.commit.get(draft)
      if (receipt?.token !== draft.token || receipt.state !== 'pending' || receipt.attempt > 1) return
      const next = ownerDraft(receipt, 'release', null, 'the claim was never answered, nothing ran')
      const change = { expect: { token: receipt.token, state: receipt.state }, next }
      const swapped = await room.commit.swap(change)
      if (swapped.done) announce(room, asWritten(next, swapped.now, swapped.epoch), change)
    } catch {
      later(Math.min(waitedMs * 2, LONGEST_MS))
    }
  }

  later(FIRST_MS)
}
