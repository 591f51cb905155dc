/**
 * swap: replace the receipt if it is still as expected. Mostly one conditional update; where a new epoch or an
 * expected `until` has to be compared first, the row is read under the same lock.
 */
import { type Receipt, stamp } from '../../core/receipt.js'
import type { Swap } from '../../store.js'
import { STATE } from './codes.js'
import type { Connection } from './connection.js'
import { findReceipt } from './get.js'
import type { Row } from './open.js'
import { changedValues, toReceipt } from './receipt.js'
import type { Statements } from './statements.js'

/** The epoch of the receipt now, or null where it was not as expected. */
export type SwapAnswer = number | null

export function swap(connection: Connection, { expect, next }: Swap, now: number): SwapAnswer {
  const { sql, catalogue } = connection
  if (next.epoch === null || expect.until !== undefined) {
    return replace(sql, findReceipt(connection, next), { expect, next }, now)
  }
  const receipt = stamp(next, now, 0)
  const values = changedValues(receipt, next.audit)
  const ids = catalogue.candidates(next)
  for (let i = 0; i < ids.length; i++) {
    const { changes } = sql.settle.run(
      ...values,
      ids[i] as number,
      expect.token,
      STATE[expect.state],
      next.key,
      next.scope,
      next.tenant,
      next.fingerprint,
    )
    if (Number(changes) === 1) return receipt.epoch
  }
  return ids.length === 0 ? null : replace(sql, findReceipt(connection, next), { expect, next }, now)
}

/** With the row at hand, read in this transaction. */
export function replace(
  sql: Statements,
  found: Row | undefined,
  { expect, next }: Swap,
  now: number,
): SwapAnswer {
  if (!found) return null
  const id = found[0] as number
  const before = toReceipt(found)
  if (!isAsExpected(before, expect)) return null
  if (before.fingerprint !== next.fingerprint) sql.keepFingerprint.get(id, before.fingerprint)
  const receipt = stamp(next, now, before.epoch)
  sql.swap.get(...changedValues(receipt, next.audit), id)
  return receipt.epoch
}

function isAsExpected({ token, state, until }: Receipt, expect: Swap['expect']): boolean {
  return (
    token === expect.token && state === expect.state && (expect.until === undefined || until === expect.until)
  )
}
