/** A duplicate of a settled action gets the first result again: the same value, or the same refusal. */
import { IbidError } from '../core/errors.js'
import { decodeOutcome, isPlainOutcome } from '../core/outcome.js'
import { type ReceiptView, view } from '../core/receipt.js'
import { copyPlain, isFlat, samePlain } from '../core/tagged.js'
import { conflict } from './conflict.js'
import type { Once } from './once.js'
import type { Call, Room } from './room.js'
import type { Seen, Settled } from './settled-cache.js'

/** `atOnce`: nothing was awaited since the fingerprint was made, so the payload is still the one it was made of. */
export function replay<T>(room: Room, call: Call<T>, settled: Settled, atOnce?: 'at once'): Once<T> {
  const { receipt } = settled
  if (receipt.fingerprint !== call.fingerprint) throw conflict(room, call, receipt)
  if (atOnce && settled.seen === undefined) remember(settled, call.seen())
  return again(room, settled)
}

function remember(settled: Settled, seen: Seen | undefined): void {
  settled.seen = seen?.payload
  settled.seenBy = seen?.identity
}

/** The way of most duplicates: the payload is compared with one whose fingerprint is known, and nothing is hashed. */
export function recall<T>(
  room: Room,
  settled: Settled,
  payload: unknown,
  identity: unknown,
  shared?: 'shared',
): Once<T> | undefined {
  const { seen, seenBy } = settled
  if (seen === undefined || seenBy !== identity || !samePlain(seen, payload)) return undefined
  return again(room, settled, shared)
}

/** `shared`: whoever asks gets by with a value that cannot be changed, so that it need not be copied. */
function again<T>(room: Room, settled: Settled, shared?: 'shared'): Once<T> {
  room.auditor.hit(settled)
  settled.view ??= Object.freeze(view(settled.receipt))
  return { value: valueOf(settled, settled.view, shared) as T, replayed: true, receipt: settled.view }
}

function valueOf(settled: Settled, receipt: ReceiptView, shared?: 'shared'): unknown {
  if (settled.shape === undefined) {
    const value = readOutcome(settled, receipt)
    if (!isPlainOutcome(settled.outcome)) return value
    settled.value = value
    settled.shape = isFlat(value) ? 'flat' : 'nested'
  }
  if (!shared) return copyOf(settled)
  settled.shared ??= { value: frozen(copyOf(settled)) }
  return settled.shared.value
}

function copyOf({ value, shape }: Settled): unknown {
  return shape === 'flat' ? { ...(value as object) } : copyPlain(value)
}

function readOutcome({ outcome: text }: Settled, receipt: ReceiptView): unknown {
  const outcome = decodeOutcome(text)
  if (outcome.kind === 'value') return outcome.value
  if (outcome.kind === 'error') throw Object.assign(outcome.error, { receipt })
  throw new IbidError(`the effect succeeded, but what it returned was not kept: ${outcome.why}`, {
    code: 'VALUE_NOT_RETAINED',
    retriable: false,
    action: 'do not repeat it: it is done. Look the result up downstream by its key',
    receipt,
    replayed: true,
  })
}

/** Plain data, all the way down. */
function frozen(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  for (const member of Object.values(value)) frozen(member)
  return Object.freeze(value)
}
