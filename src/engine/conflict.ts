/**
 * A key that comes again with another payload. The receipt has the fingerprint of the first payload; what goes on
 * record beside it is the fingerprint that came, who asked, and what differs as far as the caller can tell. Never a
 * value.
 */
import { type IbidError, keyReused } from '../core/errors.js'
import { type Receipt, view } from '../core/receipt.js'
import { type Call, notice, type Room } from './room.js'

export function conflict(room: Room, call: Call, found: Receipt): IbidError {
  const { by, fingerprint } = call
  const why = [`came as ${fingerprint}`, differenceOf(call, found)].filter(Boolean).join('; ')
  notice(room, found, 'conflict', { why, ...(by === undefined ? {} : { by }) })
  return keyReused(view(found))
}

/** The answer stands without it: whatever goes wrong in there is not the caller's trouble. */
function differenceOf({ differs }: Call, found: Receipt): string | undefined {
  try {
    return differs?.(found.fingerprint)
  } catch {
    return undefined
  }
}
