/**
 * swap: replace the receipt if it is still as expected. Mostly one conditional update; where a new epoch or an
 * expected `until` has to be compared first, or somebody has a reason to give, the row is read under the same lock.
 */
import { type Receipt, stamp } from '../../core/receipt.js'
import type { Swap } from '../../store.js'
import { EVENT, STATE } from './codes.js'
import type { Connection } from './connection.js'
import { findReceipt } from './get.js'
import { row, type Row, type Statement, type Value } from './open.js'
import { changedValues, toReceipt } from './receipt.js'
import type { Statements } from './statements.js'

/** The epoch of the receipt now, or null where it was not as expected. */
export type SwapAnswer = number | null

/** So many at once, and it pays to ask for all of them together whether they were made. */
const MANY = 16
/** A settled receipt, and its line in the log. */
const ROWS_EACH = 2

/** Thrown in the middle of a transaction, which has to be rolled back: one of many was not as expected. */
export class NotAllMade extends Error {}

/**
 * Many settlements in a row are almost always all made, and asking each for its count takes as long as binding six
 * values. So they are counted together; where the sum is wrong, `careful` has to be tried instead.
 */
export function swapAll(
  connection: Connection,
  changes: readonly Swap[],
  now: number,
  careful: boolean,
): SwapAnswer[] {
  if (careful || changes.length < MANY || !changes.every(isSettlement)) {
    return changes.map((change) => swap(connection, change, now))
  }
  const { sql, catalogue } = connection
  const before = changedSoFar(connection)
  for (const change of changes) {
    const given = catalogue.given.take(change.next)
    const id = given ?? catalogue.candidates(change.next)[0]
    if (id === undefined) throw new NotAllMade()
    if (given === undefined) sql.settle.get(...settlement(change, id, now), ...identity(change))
    else sql.settleGiven.get(...settlement(change, id, now))
  }
  if (changedSoFar(connection) - before !== changes.length * ROWS_EACH) throw new NotAllMade()
  return changes.map(({ next }) => next.epoch)
}

function changedSoFar({ sql }: Connection): number {
  return Number(row(sql.changed)?.[0])
}

function swap(connection: Connection, change: Swap, now: number): SwapAnswer {
  const { sql, catalogue } = connection
  const { next } = change
  if (!isSettlement(change)) return replace(sql, findReceipt(connection, next), change, now)
  const given = catalogue.given.take(next)
  if (given !== undefined && isMade(sql.settleGiven.run(...settlement(change, given, now)))) return next.epoch
  const ids = catalogue.candidates(next)
  for (let i = 0; i < ids.length; i++) {
    const values = settlement(change, ids[i] as number, now)
    if (isMade(sql.settle.run(...values, ...identity(change)))) return next.epoch
  }
  return ids.length === 0 ? null : replace(sql, findReceipt(connection, next), change, now)
}

export function isMade({ changes }: ReturnType<Statement['run']>): boolean {
  return Number(changes) === 1
}

/** Under the same token and epoch everything stays that was written with the claim: the seam says so. */
export function isSettlement({ expect, next }: Swap): boolean {
  const keeps = next.epoch !== null && next.createdAt !== null && next.token === expect.token
  return keeps && expect.until === undefined && next.audit.by === undefined && next.audit.why === undefined
}

/** In the order in which a settlement binds. */
export function settlement({ expect, next }: Swap, id: number, now: number): Value[] {
  return [
    STATE[next.state],
    next.forMs === null ? null : now + next.forMs,
    now,
    EVENT[next.audit.event],
    next.outcome,
    id,
    expect.token,
    STATE[expect.state],
    next.epoch,
  ]
}

/** What a candidate is compared by, in the order in which that binds. */
export function identity({ next }: Swap): Value[] {
  return [next.key, next.scope, next.tenant, next.fingerprint]
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
