/** claim: insert if no receipt has the address. The look and the insert are under one lock. */
import { type Draft, stamp } from '../../core/receipt.js'
import type { Connection } from './connection.js'
import { findReceipt } from './get.js'
import type { Row } from './open.js'
import { changedValues } from './receipt.js'

/** The epoch of one that was inserted, or the row that was there. */
export type ClaimAnswer = number | Row

export function claim(connection: Connection, draft: Draft, now: number): ClaimAnswer {
  const found = findReceipt(connection, draft)
  if (found) return found
  const { sql, catalogue } = connection
  const receipt = stamp(draft, now, catalogue.floorEpoch)
  const values = changedValues(receipt, draft.audit)
  values.push(catalogue.give(), draft.tenant, draft.scope, draft.key)
  sql.claim.get(...values)
  return receipt.epoch
}
