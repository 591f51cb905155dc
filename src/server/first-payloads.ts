/**
 * The payloads that keys were first used with, the last of them, in memory: so that a key that comes again with
 * another payload can be told what differs. Held by reference and never copied, written or shown; a long one is not
 * held at all.
 */
import { type Address, addressId } from '../core/receipt.js'
import type { ClaimPolicy, Ibid, Intent } from '../ibid.js'
import { fingerprint, identityText } from '../key/index.js'
import { difference } from './difference.js'

const MOST_HELD = 2_000
/** Characters of texts and names, roughly. */
const LONGEST = 4_096

export function knowingFirst<Tx>(ibid: Ibid<Tx>): Ibid<Tx> {
  // Two halves: when the young one is full, the old one is forgotten whole.
  let young = new Map<string, Intent>()
  let old = new Map<string, Intent>()

  function hold(intent: Intent): void {
    if (roomFor(intent.payload, LONGEST) < 0) return
    if (young.size >= MOST_HELD / 2) {
      old = young
      young = new Map()
    }
    young.set(addressId(intent as Address), intent)
  }

  function explaining(intent: Intent): Intent {
    return {
      ...intent,
      differs(first) {
        const id = addressId(intent as Address)
        const held = young.get(id) ?? old.get(id)
        // The key may have been forgotten and used anew since, somewhere else.
        if (!held || fingerprint(held.payload, held.identity) !== first) return undefined
        return difference(counted(held), counted(intent))
      },
    }
  }

  return {
    ...ibid,
    once: (intent, effect, policy) =>
      ibid.once(
        explaining(intent),
        (attempt) => {
          hold(intent)
          return effect(attempt)
        },
        policy,
      ),
    async claim<T>(intent: Intent, policy?: ClaimPolicy) {
      const claim = await ibid.claim<T>(explaining(intent), policy)
      if (claim.claimed) hold(intent)
      return claim
    },
  }
}

/** Only what counts: a field that is left out of the fingerprint is no difference. */
function counted({ payload, identity }: Intent): unknown {
  return JSON.parse(identityText(payload, identity))
}

/** What is left of `room` after this value; below zero: it is too long, and no further looked at. */
function roomFor(value: unknown, room: number): number {
  if (typeof value === 'string') return room - value.length
  if (typeof value !== 'object' || value === null) return room - 8
  let left = room
  for (const name in value) {
    left = roomFor((value as Record<string, unknown>)[name], left - name.length)
    if (left < 0) return left
  }
  return left
}
