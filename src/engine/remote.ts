/**
 * Claims for work that runs somewhere else: the caller gets the token, does the work under the lease, and comes
 * back with the token to renew or to say how it ended. The same table, the same drafts and the same settling as
 * for effects that run here; the only difference is who holds the token.
 */
import { timingSafeEqual } from 'node:crypto'
import { ownerDraft } from '../core/drafts.js'
import { IbidError, invalidIntent, leaseLost } from '../core/errors.js'
import { type Address, addressId, asWritten, type Receipt, type ReceiptView, view } from '../core/receipt.js'
import { conditionOf } from '../core/transitions.js'
import { acquire } from './acquire.js'
import { type Once, remember } from './once.js'
import { replay } from './replay.js'
import { outcomeOf, type Resolution } from './resolve.js'
import { answered, type Call, notice, type Room } from './room.js'
import { announce, type Ending, settle } from './settle.js'

/** A receipt together with the secret that its attempt was given. */
export interface Owned extends Address {
  readonly token: string
}

export type Claim<T = unknown> =
  | {
      readonly claimed: true
      /** Whoever has it may renew and settle. */
      readonly token: string
      /** The claim had been made before, under the token that the caller gave: only its answer was lost. */
      readonly resumed: boolean
      readonly receipt: ReceiptView
    }
  | ({ readonly claimed: false } & Once<T>)

/** How work that ran elsewhere ended. `unknown`: it may or may not have happened; held until somebody knows. */
export type Settlement =
  | Exclude<Resolution, { readonly as: 'released' }>
  | { readonly as: 'released'; readonly why?: string | undefined }
  | { readonly as: 'unknown'; readonly why?: string | undefined }

export interface Remote {
  claim<T>(call: Call<T>, token: string | undefined): Promise<Claim<T>>
  renew(owned: Owned): Promise<ReceiptView>
  settle(owned: Owned, settlement: Settlement): Promise<ReceiptView>
  /** The receipt as soon as nobody is working on it, or as it is after `forMs`. */
  wait(
    address: Address,
    forMs: number,
  ): Promise<{ readonly receipt: Receipt | undefined; readonly now: number }>
}

/** A claim made here. No other claim can have its key while its window has not passed, by the engine's clock. */
interface Known {
  readonly receipt: Receipt
  readonly goodUntilMs: number
}

/** Claims made here lately, so that their settling need not read first. What is not among them is read. */
const MOST_KNOWN = 20_000
const TOKEN = /^[\x21-\x7e]{22,128}$/

export function createRemote(room: Room): Remote {
  // Two halves: when the young one is full, the old one is forgotten whole.
  let young = new Map<string, Known>()
  let old = new Map<string, Known>()

  function know(id: string, receipt: Receipt, sinceMs: number): void {
    if (young.size >= MOST_KNOWN / 2) {
      old = young
      young = new Map()
    }
    young.set(id, { receipt, goodUntilMs: sinceMs + receipt.windowMs })
  }

  function forget(receipt: Receipt): void {
    const id = addressId(receipt)
    if (!young.delete(id)) old.delete(id)
  }

  async function ownedReceipt({ token, ...address }: Owned, meaning: string): Promise<Receipt> {
    checkToken(token)
    const id = addressId(address)
    const claimed = young.get(id) ?? old.get(id)
    const isKnown = claimed && room.timers.elapsedMs() < claimed.goodUntilMs
    if (isKnown && same(claimed.receipt.token, token)) return claimed.receipt
    const { receipt } = await answered(room, meaning, room.commit.get(address))
    if (!receipt) throw noReceipt(address)
    if (same(receipt.token, token)) return receipt
    notice(room, receipt, 'stale')
    throw leaseLost(view(receipt))
  }

  return {
    async claim(call, token) {
      if (token !== undefined) checkToken(token)
      const acquired = await acquire(room, call, token)
      if (acquired.kind === 'settled') return { claimed: false, ...replay(room, call, acquired.settled) }
      const { receipt, sinceMs, resumed = false } = acquired
      know(call.id, receipt, sinceMs)
      return { claimed: true, token: receipt.token, resumed, receipt: view(receipt) }
    },

    async renew(owned) {
      const receipt = await ownedReceipt(owned, 'the lease was not renewed')
      const next = ownerDraft(receipt, 'renew', null)
      const change = { expect: { token: receipt.token, state: 'pending' as const }, next }
      const swapped = await answered(room, 'the lease may not have been renewed', room.commit.swap(change))
      if (!swapped.done) {
        forget(receipt)
        notice(room, receipt, 'stale')
        throw leaseLost(view(receipt))
      }
      const renewed = asWritten(next, swapped.now, swapped.epoch)
      announce(room, renewed, change)
      return view(renewed)
    },

    async settle(owned, settlement) {
      const ending = endingFor(settlement, room.store.maxOutcome)
      const receipt = await ownedReceipt(owned, 'how it ended was not recorded')
      forget(receipt)
      const written = await settle(room, receipt, ending)
      remember(room, written)
      room.waiting.told(receipt)
      return view(written.receipt)
    },

    async wait(address, forMs) {
      const deadlineMs = room.timers.elapsedMs() + forMs
      for (;;) {
        const found = await answered(room, 'nothing was executed', room.commit.get(address))
        const { receipt, now } = found
        if (!receipt || conditionOf(receipt, now) !== 'pending' || room.isClosing()) return found
        if (!(await room.waiting.wait(receipt, now, deadlineMs))) return found
      }
    },
  }
}

function endingFor(settlement: Settlement, maxOutcome: number): Ending {
  switch (settlement?.as) {
    case 'unknown':
      return { event: 'doubt', outcome: null, ...whyOf(settlement) }
    case 'released':
      return { event: 'release', outcome: null, ...whyOf(settlement) }
    default:
      return {
        event: settlement?.as === 'failed' ? 'fail' : 'succeed',
        outcome: outcomeOf(settlement, maxOutcome),
      }
  }
}

function whyOf({ why }: { readonly why?: string | undefined }): { readonly why?: string } {
  if (why === undefined) return {}
  if (typeof why === 'string' && why.length <= 1_000) return { why }
  throw invalidIntent('why is not a text of up to 1000 characters', 'say it shorter, or leave it out')
}

function checkToken(token: unknown): void {
  if (typeof token === 'string' && TOKEN.test(token)) return
  throw invalidIntent(
    'token is not a text of 22 to 128 printable characters without spaces',
    'give the token that the claim answered with; to choose one yourself, take 16 random bytes or more',
  )
}

function same(mine: string, given: string): boolean {
  const [a, b] = [Buffer.from(mine), Buffer.from(given)]
  return a.length === b.length && timingSafeEqual(a, b)
}

function noReceipt(address: Address): IbidError {
  return new IbidError(`there is no receipt for key ${JSON.stringify(address.key)}; nothing was changed`, {
    code: 'NO_RECEIPT',
    retriable: false,
    action: 'claim the key first; a receipt whose window has ended is forgotten',
  })
}
