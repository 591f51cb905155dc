/** A person, or something that knows, says what happened to a held receipt. Who and why go on record. */
import { resolveDraft } from '../core/drafts.js'
import { IbidError, invalidIntent, Rejected } from '../core/errors.js'
import { mustSay } from '../core/on-record.js'
import { encodeError, encodeValue } from '../core/outcome.js'
import { type Address, type Receipt, type ReceiptView, asWritten, view } from '../core/receipt.js'
import { conditionOf } from '../core/transitions.js'
import type { Swap } from '../store.js'
import { sweepOne } from './housekeeping.js'
import { answered, type Room } from './room.js'
import { announce, isAsLeftBy } from './settle.js'

export type Resolution =
  | { readonly as: 'succeeded'; readonly value?: unknown }
  | { readonly as: 'failed'; readonly error: Rejected | { readonly code?: string; readonly message: string } }
  /** It certainly did not happen: the same key may run again. */
  | { readonly as: 'released' }

export interface Resolver {
  readonly by: string
  readonly why: string
  /** Of the receipt that was looked at. What came after it under the same key is not resolved by this. */
  readonly epoch?: number | undefined
}

const UNCHANGED = 'nothing was resolved'
const UNSAID = 'whether it was resolved is in its receipt'

export async function resolve(
  room: Room,
  address: Address,
  resolution: Resolution,
  resolver: Resolver,
): Promise<ReceiptView> {
  const { by, why, epoch } = resolver ?? {}
  mustSay('by', by)
  mustSay('why', why)
  const outcome = outcomeOf(resolution, room.store.maxOutcome)
  const found = await findHeld(room, address)
  if (epoch !== undefined && found.epoch !== epoch)
    throw notHeld(found, `what is held now is another attempt, of epoch ${found.epoch}`, view(found))
  const next = resolveDraft(found, resolution.as, outcome, by, why)
  const change: Swap = { expect: { token: found.token, state: found.state }, next }
  const swapped = await answered(room, UNSAID, room.commit.swap(change))
  const receipt = swapped.done
    ? asWritten(next, swapped.now, swapped.epoch)
    : await madeAlready(room, change, found)
  announce(room, receipt, change)
  return view(receipt)
}

/** A client that sends again what broke on its way may have made the change at first, and hear no to the second. */
async function madeAlready(room: Room, change: Swap, found: Receipt): Promise<Receipt> {
  const { receipt } = await answered(room, UNSAID, room.commit.get(found))
  if (receipt && isAsLeftBy(change, receipt)) return receipt
  throw notHeld(found, 'it changed in this moment', view(receipt ?? found))
}

async function findHeld(room: Room, address: Address): Promise<Receipt> {
  for (;;) {
    const { receipt, now } = await answered(room, UNCHANGED, room.commit.get(address))
    if (!receipt) throw notHeld(address, 'there is no such receipt', undefined)
    const condition = conditionOf(receipt, now)
    if (condition === 'unknown') return receipt
    // Lapsed under `hold` is held as well; only nobody has looked since.
    if ((await answered(room, UNCHANGED, sweepOne(room, receipt, now))) === undefined) {
      throw notHeld(address, `it is ${condition}`, view(receipt))
    }
  }
}

export function outcomeOf(resolution: Resolution, maxOutcome: number): string | null {
  switch (resolution?.as) {
    case 'succeeded':
      return encodeValue(resolution.value, maxOutcome)
    case 'failed': {
      const { error } = resolution
      if (typeof error?.message !== 'string') {
        throw invalidIntent(
          'resolution.error has no message',
          'give { as: "failed", error: { code, message } }',
        )
      }
      const { code } = error
      return encodeError(
        error instanceof Rejected ? error : new Rejected(error.message, code === undefined ? {} : { code }),
        maxOutcome,
      )
    }
    case 'released':
      return null
    default:
      throw invalidIntent(
        'resolution.as is none of the three ends',
        "give { as: 'succeeded', value }, { as: 'failed', error } or { as: 'released' }",
      )
  }
}

function notHeld(address: Address, why: string, receipt: ReceiptView | undefined): IbidError {
  return new IbidError(`key ${JSON.stringify(address.key)} is not held: ${why}; nothing was changed`, {
    code: 'NOT_HELD',
    retriable: false,
    action: 'look at the receipt again: only one whose outcome is unknown can be resolved',
    receipt,
  })
}
