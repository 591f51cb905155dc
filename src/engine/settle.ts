/**
 * The end of an attempt, written down. The effect has happened by now, so a store that does not answer is asked
 * again until the lease is over; a swap that says no is looked into, because an earlier one whose answer was lost
 * may have been made.
 */
import { ownerDraft, type OwnerEvent } from '../core/drafts.js'
import { leaseLost, storeUnavailable } from '../core/errors.js'
import { type Address, type Receipt, asWritten, view } from '../core/receipt.js'
import type { Swap, Swapped } from '../store.js'
import { notice, type Room } from './room.js'
import { pause } from './timers.js'

export interface Ending {
  readonly event: Exclude<OwnerEvent, 'renew'>
  readonly outcome: string | null
  readonly why?: string
}

export interface Written {
  readonly receipt: Receipt
  readonly now: number
  /** The engine's clock before the store was asked. */
  readonly askedMs: number
}

const FIRST_PAUSE_MS = 25
const LONGEST_PAUSE_MS = 1_000
const FEWEST_TRIES = 3

/**
 * Throws LEASE_LOST when another attempt owns the receipt, STORE_UNAVAILABLE when it could not be written.
 * `commit`: a change whose commit was asked for and not answered; where that was made, it is what was written.
 */
export function settle(room: Room, receipt: Receipt, ending: Ending, commit?: Swap): Promise<Written> {
  const askedMs = room.timers.elapsedMs()
  const change = endingOf(receipt, ending)
  const asked = room.commit.swap(change, room.calls.isOnlyOne())
  const goOn = (): Promise<Written> => insist(room, receipt, ending, commit, change, askedMs, asked)
  // Most are written at the first try: that one is made without any of what the others need.
  return asked.then((swapped) => (swapped.done ? made(room, change, swapped, askedMs) : goOn()), goOn)
}

async function insist(
  room: Room,
  receipt: Receipt,
  ending: Ending,
  commit: Swap | undefined,
  change: Swap,
  askedMs: number,
  first: Promise<Swapped>,
): Promise<Written> {
  const stopMs = askedMs + receipt.leaseMs
  const possible = commit ? [commit, change] : [change]
  let asked = first
  let pauseMs = FIRST_PAUSE_MS
  for (let tried = 1; ; tried++) {
    try {
      const swapped = await asked
      const written = swapped.done
        ? made(room, change, swapped, askedMs)
        : await lookInto(room, receipt, possible, askedMs)
      if (written) return written
      break
    } catch (error) {
      room.telemetry.storeFailed()
      if (tried >= FEWEST_TRIES && room.timers.elapsedMs() + pauseMs > stopMs)
        throw storeUnavailable(commit ? UNSAID : MEANING[ending.event], error)
    }
    await pause(room.timers, pauseMs)
    pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)
    asked = room.commit.swap(change, room.calls.isOnlyOne())
  }
  throw leaseLost(view(receipt))
}

function made(
  room: Room,
  change: Swap,
  { now, epoch }: Extract<Swapped, { done: true }>,
  askedMs: number,
): Written {
  const receipt = asWritten(change.next, now, epoch)
  announce(room, receipt, change)
  return { receipt, now, askedMs }
}

export function endingOf(receipt: Receipt, { event, outcome, why }: Ending): Swap {
  return {
    expect: { token: receipt.token, state: 'pending' },
    next: ownerDraft(receipt, event, outcome, why),
  }
}

/** Is it as one of these changes would have left it? Then that one was made, and only its answer was lost. */
async function lookInto(
  room: Room,
  address: Address,
  possible: readonly Swap[],
  askedMs: number,
): Promise<Written | undefined> {
  const { receipt, now } = await room.commit.get(address)
  if (!receipt) return undefined
  const change = possible.find((one) => isAsLeftBy(one, receipt))
  if (change) {
    announce(room, receipt, change)
    return { receipt, now, askedMs }
  }
  notice(room, receipt, 'stale')
  return undefined
}

export function isAsLeftBy({ expect, next }: Swap, { token, state, outcome }: Receipt): boolean {
  return token === expect.token && state === next.state && outcome === next.outcome
}

export function announce(room: Room, receipt: Receipt, { next }: Swap): void {
  room.telemetry.decided(next.audit.event, receipt.scope)
  room.auditor.changed(receipt, next.audit)
}

const MEANING: Readonly<Record<Ending['event'], string>> = {
  succeed:
    'the effect ran, but that could not be recorded: its key stays reserved, and the recovery policy decides',
  fail: 'the effect was refused, but that could not be recorded: its key stays reserved until the lease lapses',
  release: 'nothing happened, but the key could not be given back: it stays reserved until the lease lapses',
  lapse: 'the effect failed, and its key stays reserved until the lease lapses',
  doubt: 'it is not known whether the effect happened; its key stays reserved until the lease lapses',
}

/** The commit was asked for: the writes and the receipt are there together, or neither is. */
const UNSAID = 'it is not known whether it was committed; its receipt says so as soon as the store answers'
