/**
 * purge: forgets receipts that have ended and events that are old, a few at a time. What the log needs of a receipt
 * is kept in `ibid_past` until its last event is dropped. A generation that is empty goes with its slices.
 */
import type { Purged, ReceiptClaim } from '../../store.js'
import { EVENT, STATE } from './codes.js'
import type { Connection } from './connection.js'
import { SLICES, toGeneration } from './generation.js'
import { findReceipt } from './get.js'
import { asRow, type Database, type Row, row, rows, type Value } from './open.js'
import { toReceipt } from './receipt.js'

const FORGETTABLE = [STATE.released, STATE.succeeded, STATE.failed]
const LISTED = 'IN (SELECT value FROM json_each(?))'

/** Inside a transaction. */
export function purge(connection: Connection, limit: number, auditMs: number, now: number): Purged {
  const { db } = connection
  const dropped = dropEvents(db, limit, now - auditMs)
  const unlogged = dropPast(db, dropped)
  const ended = findEnded(db, limit, now)
  if (ended.length > 0) forget(connection, ended, now)
  reviewGenerations(connection, [...ended, ...unlogged])
  return { receipts: ended.length, events: dropped.length }
}

/** Inside a transaction. */
export function forgetOnly(connection: Connection, claims: readonly ReceiptClaim[], now: number): Purged {
  const ended = new Set<number>()
  for (const claim of claims) {
    const found = findReceipt(connection, claim)
    if (!found) continue
    const { epoch, state, until } = toReceipt(found)
    const isOver = until !== null && until <= now && FORGETTABLE.some((code) => code === STATE[state])
    if (isOver && epoch === claim.epoch) ended.add(found[0] as number)
  }
  if (ended.size > 0) forget(connection, [...ended], now)
  reviewGenerations(connection, [...ended])
  return { receipts: ended.size, events: 0 }
}

function findEnded(db: Database, limit: number, now: number): readonly number[] {
  const ended = rows(
    db.prepare('SELECT id FROM ibid_receipt WHERE state = ? AND until <= ? ORDER BY until LIMIT ?'),
  )
  const ids: number[] = []
  for (const state of FORGETTABLE) ids.push(...idsOf(ended.all(state, now, limit - ids.length)))
  return ids
}

function forget({ db, catalogue }: Connection, ids: readonly number[], now: number): void {
  const list = JSON.stringify(ids)
  const chosen = `FROM ibid_receipt WHERE id ${LISTED}`
  run(db, `INSERT INTO ibid_past SELECT id, tenant, scope, key, fingerprint ${chosen}`, list)
  run(
    db,
    `INSERT INTO ibid_audit (receipt, at, event, state, epoch, attempt, count)
      SELECT id, ?, ${EVENT.expired}, NULL, epoch, attempt, 1 ${chosen}`,
    now,
    list,
  )
  const raise = `UPDATE ibid_meta SET floor_id = max(floor_id, ?),
    floor_epoch = max(floor_epoch, (SELECT max(epoch) ${chosen})) RETURNING floor_epoch`
  const raised = row(rows(db.prepare(raise)), catalogue.lastId, list) as readonly number[]
  // A claim in this same transaction may be of what was just forgotten.
  catalogue.floorEpoch = raised[0] as number
  run(db, `DELETE ${chosen}`, list)
}

interface Dropped {
  readonly id: number
  readonly receipt: number | null
}

/** The oldest by id. Only as many are looked at as may be dropped, whatever their times are. */
function dropEvents(db: Database, limit: number, before: number): readonly Dropped[] {
  const oldest = rows(db.prepare('SELECT id, receipt, at, event FROM ibid_audit ORDER BY id LIMIT ?'))
    .all(limit + 1)
    .map((got) => asRow(got) as Row)
  const old = oldest.filter((event) => event[3] !== null && (event[2] as number) < before).slice(0, limit)
  if (old.length === 0) return []
  const last = row(rows(db.prepare('SELECT max(id) FROM ibid_audit')))?.[0] as number
  // An id must not come again, or a reader who follows the log would miss it: the last one stays, as a mark.
  const ids = [...old, ...oldest.filter((event) => event[3] === null)].map((event) => event[0])
  run(db, `DELETE FROM ibid_audit WHERE id ${LISTED}`, JSON.stringify(ids.filter((id) => id !== last)))
  if (ids.includes(last)) run(db, 'UPDATE ibid_audit SET event = NULL, receipt = NULL WHERE id = ?', last)
  return old.map((event) => ({ id: event[0] as number, receipt: event[1] as number | null }))
}

/** What was kept for events of which none is left. */
function dropPast(db: Database, dropped: readonly Dropped[]): readonly number[] {
  const receipts = new Set(dropped.map(({ receipt }) => receipt).filter((receipt) => receipt !== null))
  if (receipts.size === 0) return []
  const gone = `DELETE FROM ibid_past WHERE id ${LISTED}
    AND NOT EXISTS (SELECT 1 FROM ibid_audit WHERE receipt = ibid_past.id) RETURNING id`
  return idsOf(rows(db.prepare(gone)).all(JSON.stringify([...receipts])))
}

/** A generation of which only the log is left leaves the filters; one of which nothing is left leaves the file. */
function reviewGenerations({ db, sql }: Connection, ids: readonly number[]): void {
  if (ids.length === 0) return
  for (const got of sql.generations.all()) {
    const { id, after, live } = toGeneration(asRow(got) as Row)
    if (!ids.some((one) => one > after && one <= id)) continue
    if (row(sql.anyReceipt, after, id)) continue
    const logged = row(sql.anyPast, after, id) !== undefined
    if (logged && !live) continue
    if (logged) run(db, 'UPDATE ibid_generation SET live = 0 WHERE id = ?', id)
    else drop(db, id)
    run(db, 'UPDATE ibid_meta SET catalogue = catalogue + 1')
  }
}

function drop(db: Database, generation: number): void {
  run(db, 'DELETE FROM ibid_run WHERE id >= ? AND id < ?', generation * SLICES, (generation + 1) * SLICES)
  run(db, 'DELETE FROM ibid_generation WHERE id = ?', generation)
}

function run(db: Database, sql: string, ...values: Value[]): void {
  db.prepare(sql).get(...values)
}

function idsOf(found: readonly unknown[]): number[] {
  return found.map((got) => (asRow(got) as Row)[0] as number)
}
