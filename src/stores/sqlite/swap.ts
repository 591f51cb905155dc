/**
 * swap: replace the receipt if it is still as expected. Mostly one conditional update; where a new epoch or an
 * expected `until` has to be compared first, or somebody has a reason to give, the row is read under the same lock.
 */
import { type Receipt, stamp } from '../../core/receipt.js'
import type { Swap } from '../../store.js'
import { EVENT, STATE } from './codes.js'
import type { Connection } from './connection.js'
import { findReceipt } from './get.js'
import type { Row } from './open.js'
import { changedValues, toReceipt } from './receipt.js'
import type { Statements } from './statements.js'

/** The epoch of the receipt now, or null where it was not as expected. */
export type SwapAnswer = number | null

export function swap(connection: Connection, change: Swap, now: number): SwapAnswer {
  const { expect, next } = change
  // Under the same token and epoch everything stays that was written with the claim: the seam says so.
  const keeps = next.epoch !== null && next.createdAt !== null && next.token === expect.token
  const says = next.audit.by !== undefined || next.audit.why !== undefined
  if (!keeps || says || expect.until !== undefined) {
    return replace(connection.sql, findReceipt(connection, next), change, now)
  }
  const ids = connection.catalogue.candidates(next)
  for (let i = 0; i < ids.length; i++) {
    const { changes } = connection.sql.settle.run(
      STATE[next.state],
      next.forMs === null ? null : now + next.forMs,
      now,
      EVENT[next.audit.event],
      next.outcome,
      ids[i] as number,
      expect.token,
      STATE[expect.state],
      next.epoch,
      next.key,
      next.scope,
      next.tenant,
      next.fingerprint,
    )
    if (Number(changes) === 1) return next.epoch
  }
  return ids.length === 0 ? null : replace(connection.sql, findReceipt(connection, next), change, now)
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
