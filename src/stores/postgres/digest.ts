/**
 * Where an address is looked up: half a SHA-256, as a uuid. Nobody can send two addresses that share one; should it
 * happen all the same, the rows are told apart by the address itself, and the second is refused.
 */
import { hash } from 'node:crypto'
import { IbidError } from '../../core/errors.js'
import { lately } from '../../core/lately.js'
import { type Address, addressId } from '../../core/receipt.js'

const MOST_KNOWN = 1_024

export const digestOf = lately(MOST_KNOWN, (address) =>
  hash('sha256', addressId(address), 'hex').slice(0, 32),
)

export function mustBe(found: Address, wanted: Address): void {
  if (found.key === wanted.key && found.scope === wanted.scope && found.tenant === wanted.tenant) return
  throw new IbidError(
    'two addresses have the same digest, and only the first can be kept; nothing was executed',
    {
      code: 'STORE_UNAVAILABLE',
      retriable: false,
      action: 'use another key for this action, and report it: this is not expected to happen',
    },
  )
}
