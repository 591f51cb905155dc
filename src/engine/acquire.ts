/**
 * From a call to the right to run its effect, or to what came of an earlier one. The claim is one conditional
 * write; what it finds is judged by the table and, where the table allows a move, changed by one compare-and-swap.
 * A claim whose answer was lost is asked again under the same token: if the receipt carries it, the claim was won.
 */
import { claimDraft, handOver, lapsedDraft, ownerDraft } from '../core/drafts.js'
import { closed, invalidIntent, outcomeUnknown, retryInFlight, storeUnavailable } from '../core/errors.js'
import { type Draft, type Receipt, asWritten, view } from '../core/receipt.js'
import { type Decision, decide } from '../core/transitions.js'
import type { Claimed, Swap, Swapped } from '../store.js'
import { abandon } from './abandon.js'
import { conflict } from './conflict.js'
import { checkHeld } from './held-check.js'
import { type Call, notice, type Room } from './room.js'
import type { Settled } from './settled-cache.js'
import { pause } from './timers.js'

export type Acquired =
  /** The lease is good for `receipt.leaseMs` from `sinceMs`: the engine's clock before the store was asked. */
  | {
      readonly kind: 'owned'
      readonly receipt: Receipt
      readonly sinceMs: number
      /** Certainly nobody has had it before: no effect can have happened under it. */
      readonly isFirst: boolean
      /** Claimed earlier, under a token that the caller brought. */
      readonly resumed?: boolean
    }
  | { readonly kind: 'settled'; readonly settled: Settled }

/** Tries of a claim that the store does not answer, and the pause after the first. */
const TRIES = 3
const FIRST_PAUSE_MS = 25

/** One call on its way to the receipt. */
interface Claiming {
  /** What it writes if it is the first; its token is the one of whatever it wins. */
  first: Draft
  readonly deadlineMs: number
  /** The token was brought by the caller: it may have been used before, by an earlier call. */
  readonly brought: boolean
  /** What it asked for last; where the answer was lost, this may be what stands there now. */
  asked: Draft
  /** Changes that the store did not answer so far. */
  unanswered: number
}

/**
 * `token`: brought by a caller who wants to be recognised when the answer to its claim is lost.
 * Most calls end with their first claim: that one is made without any of what the others need.
 */
export function acquire<T>(room: Room, call: Call<T>, token?: string): Promise<Acquired> {
  const sinceMs = room.timers.elapsedMs()
  const deadlineMs = sinceMs + call.terms.waitMs
  const first = claimDraft(call.address, call.fingerprint, call.terms, token ?? room.newToken())
  const brought = token !== undefined
  const claiming: Claiming = { first, asked: first, deadlineMs, brought, unanswered: 0 }
  if (room.isClosing() || room.executions.find(call.id)) return goOn(room, call, claiming)
  return room.commit.claim(first).then(
    (claimed) => {
      room.telemetry.claimed(room.timers.elapsedMs() - sinceMs)
      return take(room, call, claiming, claimed, sinceMs)
    },
    async (error: unknown) => {
      await failed(room, claiming, 1, error)
      return take(room, call, claiming, await claim(room, claiming, sinceMs, 2), sinceMs)
    },
  )
}

/** What the first claim has brought, or what the next ones will. */
function take<T>(
  room: Room,
  call: Call<T>,
  claiming: Claiming,
  claimed: Claimed,
  sinceMs: number,
): Acquired | Promise<Acquired> {
  if (claimed.won) return own(room, claiming.first, claimed, sinceMs)
  const judged = judge(room, call, claiming, claimed.found, claimed.now, sinceMs)
  if (!(judged instanceof Promise)) return judged
  return judged.then((acquired) => acquired ?? goOn(room, call, claiming))
}

async function goOn<T>(room: Room, call: Call<T>, claiming: Claiming): Promise<Acquired> {
  for (;;) {
    if (room.isClosing()) throw closed()
    const running = room.executions.find(call.id)
    if (running) {
      const settled = await join(room, call, running, claiming.deadlineMs)
      if (settled) return { kind: 'settled', settled }
    } else {
      const sinceMs = room.timers.elapsedMs()
      const claimed = await claim(room, claiming, sinceMs)
      if (claimed.won) return own(room, claiming.first, claimed, sinceMs)
      const acquired = await judge(room, call, claiming, claimed.found, claimed.now, sinceMs)
      if (acquired) return acquired
    }
  }
}

function own(
  room: Room,
  first: Draft,
  { now, epoch }: Extract<Claimed, { won: true }>,
  sinceMs: number,
): Acquired {
  const receipt = asWritten(first, now, epoch)
  changed(room, receipt, first)
  return { kind: 'owned', receipt, sinceMs, isFirst: true }
}

/** Duplicates in this process wait for the attempt that runs in it. */
async function join(
  room: Room,
  call: Call,
  running: Receipt,
  deadlineMs: number,
): Promise<Settled | undefined> {
  if (running.fingerprint !== call.fingerprint) throw conflict(room, call, running)
  const how = await room.executions.join(call.id, deadlineMs)
  if (how.kind === 'settled') return how.settled
  if (how.kind === 'late') throw inFlight(room, running, running.leaseMs)
  return undefined
}

/** Undefined: something has changed, so claim again. A replay is known at once. */
function judge<T>(
  room: Room,
  call: Call<T>,
  claiming: Claiming,
  found: Receipt,
  now: number,
  askedMs: number,
): Acquired | Promise<Acquired | undefined> {
  const isOurs = found.token === claiming.first.token
  if (isOurs && !claiming.brought) {
    if (found.state === 'pending') return regain(room, claiming, found)
    // A token has one life: whoever still has this one in hand must not find it again in the next.
    claiming.first = { ...claiming.first, token: room.newToken() }
  }
  const decision = decide(found, call.fingerprint, call.terms.recovery, now)
  switch (decision.kind) {
    case 'conflict':
      throw conflict(room, call, found)
    case 'replay':
      return { kind: 'settled', settled: room.cache.put(found, now, askedMs) }
    case 'in_flight':
      if (isOurs && claiming.brought) return regain(room, claiming, found)
      return waitFor(room, call, claiming, found, now, decision.retryAfterMs)
    case 'unknown':
      return checkHeld(room, call, found).then(() => undefined)
    case 'move':
      if (isOurs && claiming.brought) throw tokenSpent()
      return move(room, decision, claiming, found)
  }
}

async function waitFor(
  room: Room,
  call: Call,
  { deadlineMs }: Claiming,
  found: Receipt,
  now: number,
  retryAfterMs: number,
): Promise<undefined> {
  if (room.executions.find(call.id)?.token === found.token) return
  if (!(await room.waiting.wait(found, now, deadlineMs))) throw inFlight(room, found, retryAfterMs)
}

async function move(
  room: Room,
  { row }: Extract<Decision, { kind: 'move' }>,
  claiming: Claiming,
  found: Receipt,
): Promise<Acquired | undefined> {
  const { first } = claiming
  const expect = { token: found.token, state: found.state, until: found.until }
  const next = row.to === 'pending' ? handOver(found, row, first) : lapsedDraft(found, row, { event: 'held' })
  const sinceMs = room.timers.elapsedMs()
  if (row.to === 'pending') claiming.asked = next
  const swapped = await swapOrAskAgain(room, claiming, { expect, next })
  if (!swapped?.done) return undefined
  const receipt = asWritten(next, swapped.now, swapped.epoch)
  changed(room, receipt, next)
  if (row.to === 'pending') return { kind: 'owned', receipt, sinceMs, isFirst: next === first }
  throw outcomeUnknown(
    view(receipt),
    `attempt ${receipt.attempt} ended without a word, and ${whyHeld(receipt)}`,
  )
}

/**
 * Ours, but the answer that said so was lost. Nothing has run yet, and nobody knows how much of the lease is left.
 * Under a token that the caller brought, the claim may be one that an earlier call has announced.
 */
async function regain(room: Room, claiming: Claiming, found: Receipt): Promise<Acquired | undefined> {
  const next = ownerDraft(found, 'renew', null)
  const expect = { token: found.token, state: found.state, until: found.until }
  const sinceMs = room.timers.elapsedMs()
  const swapped = await swapOrAskAgain(room, claiming, { expect, next })
  if (!swapped?.done) return undefined
  const receipt = asWritten(next, swapped.now, swapped.epoch)
  if (!claiming.brought) changed(room, found, claiming.asked)
  changed(room, receipt, next)
  return { kind: 'owned', receipt, sinceMs, isFirst: false, resumed: claiming.brought }
}

/** `tried`: the number of the try that it starts with. */
async function claim(room: Room, claiming: Claiming, startMs: number, tried = 1): Promise<Claimed> {
  try {
    const claimed = await room.commit.claim(claiming.first)
    room.telemetry.claimed(room.timers.elapsedMs() - startMs)
    return claimed
  } catch (error) {
    await failed(room, claiming, tried, error)
    return claim(room, claiming, startMs, tried + 1)
  }
}

/** The store did not answer a claim. Returns when it may be asked again. */
async function failed(room: Room, claiming: Claiming, tried: number, error: unknown): Promise<void> {
  room.telemetry.storeFailed()
  if (tried === TRIES) throw unanswered(room, claiming, error)
  await pause(room.timers, pauseAfter(tried))
}

/**
 * A token that the caller brought is not given up: it may be back with it at any moment, here or in another process,
 * and at work while what was abandoned is given back under its feet.
 */
function unanswered(room: Room, { first, brought }: Claiming, error: unknown): Error {
  if (!brought) abandon(room, first)
  return storeUnavailable('nothing was executed', error)
}

/**
 * A swap that the store did not answer may have been made: the next claim finds our token, or not. A store that
 * answers claims and no changes (a full disk does that) is not asked for ever.
 */
async function swapOrAskAgain(room: Room, claiming: Claiming, change: Swap): Promise<Swapped | undefined> {
  try {
    return await room.commit.swap(change)
  } catch (error) {
    room.telemetry.storeFailed()
    if (++claiming.unanswered >= TRIES) throw unanswered(room, claiming, error)
    await pause(room.timers, pauseAfter(claiming.unanswered))
    return undefined
  }
}

function pauseAfter(tries: number): number {
  return FIRST_PAUSE_MS * 4 ** (tries - 1)
}

function changed(room: Room, receipt: Receipt, draft: Draft): void {
  room.telemetry.decided(draft.audit.event, receipt.scope)
  room.auditor.changed(receipt, draft.audit)
}

function inFlight(room: Room, found: Receipt, leftMs: number): Error {
  notice(room, found, 'in_flight')
  return retryInFlight(view(found), Math.max(1, Math.min(leftMs, 1_000)))
}

/** One token is one attempt: under a second one, a late word of the first could settle it. */
function tokenSpent(): Error {
  return invalidIntent(
    'token belongs to an earlier attempt that has ended',
    'make a new random token for every attempt; use one again only while its claim was not answered',
  )
}

function whyHeld({ recovery, attempt, maxAttempts }: Receipt): string {
  if (recovery === 'hold') return 'its policy is to hold for a person'
  if (attempt >= maxAttempts) return `all ${maxAttempts} attempts are used up`
  return 'this caller may not repeat it'
}
