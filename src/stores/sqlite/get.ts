/** get: the row at an address, which is compared letter by letter. */
import type { Address } from '../../core/receipt.js'
import type { Connection } from './connection.js'
import { type Row, row } from './open.js'

export function findReceipt({ sql, catalogue }: Connection, address: Address): Row | undefined {
  const ids = catalogue.candidates(address)
  for (let i = 0; i < ids.length; i++) {
    const found = row(sql.receipt, ids[i] as number, address.key, address.scope, address.tenant)
    if (found) return found
  }
  return undefined
}

/** The ids that the receipts at this address have and had, as far as the audit log still knows them. */
export function findIdsEver({ sql, catalogue }: Connection, address: Address): readonly number[] {
  const { tenant, scope, key } = address
  return catalogue
    .candidatesEver(address)
    .filter((id) => row(sql.fingerprint, id, key, scope, tenant) ?? row(sql.past, id, key, scope, tenant))
}
