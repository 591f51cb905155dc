/**
 * Every statement of the hot path, named after the verb it is for. Prepared once per connection.
 *
 * OR FAIL: a write that fails does not undo itself, because the whole transaction is rolled back then. Without it,
 * SQLite copies every page aside that a statement with a trigger may change: a third of the time of a batch. OR
 * ROLLBACK is the same for a statement that is its own transaction.
 */
import { EVENT, STATE } from './codes.js'
import { type Database, rows, type Statement } from './open.js'
import { SCHEMA_VERSION } from './schema.js'

/** The order in which receipt.ts reads a row. */
export const RECEIPT_COLUMNS =
  'id, tenant, scope, key, fingerprint, state, token, attempt, max_attempts, recovery, lease_ms, window_ms, outcome, epoch, created_at, at, until'

/** What a swap changes, in the order in which it binds. */
const CHANGED = [
  'state',
  'until',
  'at',
  'epoch',
  'attempt',
  'max_attempts',
  'recovery',
  'lease_ms',
  'window_ms',
  'created_at',
  'event',
  'by',
  'why',
  'token',
  'fingerprint',
  'outcome',
]

/** For a row that is known to be the one that is meant. */
const SETTLEMENT = `ibid_receipt SET state = ?, until = ?, at = ?, event = ?, by = NULL, why = NULL, outcome = ?
    WHERE id = ? AND token = ? AND state = ? AND epoch = ?`
/** For a candidate. */
const COMPARED = 'AND key = ? AND scope = ? AND tenant = ? AND fingerprint = ?'
const IS_VERSION = `(SELECT version FROM ibid_meta) = ${SCHEMA_VERSION}`

const FIRST_CLAIM = `INTO ibid_receipt (${RECEIPT_COLUMNS}, event)`
const firstClaim = (state: string): string =>
  `(?1, ?2, ?3, ?4, ?5, ${state}, ?6, 1, ?7, ?8, ?9, ?10, NULL, ?11, ?12, ?12, ?13, ${EVENT.claimed})`
/** No state, and so no row, where others have given out this id or forgotten this epoch, or the file is a newer one. */
const STATE_IF_KNOWN = `(SELECT ${STATE.pending} FROM ibid_meta WHERE version = ${SCHEMA_VERSION}
    AND floor_id < ?1 AND sealed_to < ?1 AND floor_epoch < ?11)`

const SQL = {
  begin: 'BEGIN IMMEDIATE',
  beginRead: 'BEGIN',
  commit: 'COMMIT',
  rollback: 'ROLLBACK',
  dataVersion: 'PRAGMA data_version',
  checkpoint: 'PRAGMA wal_checkpoint(PASSIVE)',
  meta: 'SELECT version, key0, key1, catalogue, sealed_to, floor_id, floor_epoch FROM ibid_meta',
  lastId: 'SELECT max(id) FROM ibid_receipt',

  /** What has no index yet: rows above an id, also of receipts that only the log still knows. */
  tail: `SELECT id, tenant, scope, key FROM ibid_receipt WHERE id > ?1
    UNION ALL SELECT id, tenant, scope, key FROM ibid_past WHERE id > ?1`,
  generations: 'SELECT id, after, live FROM ibid_generation',
  runs: 'SELECT entries FROM ibid_run WHERE id >= ? AND id < ?',
  run: 'SELECT entries FROM ibid_run WHERE id = ?',
  sealRun: 'INSERT OR FAIL INTO ibid_run (id, entries) VALUES (?, ?)',
  anyReceipt: 'SELECT 1 FROM ibid_receipt WHERE id > ? AND id <= ? LIMIT 1',
  anyPast: 'SELECT 1 FROM ibid_past WHERE id > ? AND id <= ? LIMIT 1',
  sealGeneration: 'INSERT OR FAIL INTO ibid_generation (id, after, live) VALUES (?, ?, ?)',
  sealMeta: 'UPDATE ibid_meta SET catalogue = catalogue + 1, sealed_to = ?',

  claim: `INSERT OR FAIL INTO ibid_receipt (${RECEIPT_COLUMNS}, event, by, why)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  /** The same for a first attempt that has nothing to say: every value that is bound takes its time. */
  claimFirst: `INSERT OR FAIL ${FIRST_CLAIM} VALUES ${firstClaim(String(STATE.pending))}`,
  /** The same alone, outside of a transaction. */
  claimAlone: `INSERT OR ROLLBACK ${FIRST_CLAIM} VALUES ${firstClaim(STATE_IF_KNOWN)}`,
  /** The owner's last word, in one step: nothing is read before, and what was claimed stays as it is. */
  settle: `UPDATE OR FAIL ${SETTLEMENT} ${COMPARED}`,
  settleGiven: `UPDATE OR FAIL ${SETTLEMENT}`,
  /** Alone, outside of a transaction. */
  settleAlone: `UPDATE OR ROLLBACK ${SETTLEMENT} ${COMPARED} AND ${IS_VERSION}`,
  settleGivenAlone: `UPDATE OR ROLLBACK ${SETTLEMENT} AND ${IS_VERSION}`,
  /** Rows changed on this connection so far, also by triggers. */
  changed: 'SELECT total_changes()',
  swap: `UPDATE OR FAIL ibid_receipt SET ${CHANGED.map((name) => `${name} = ?`).join(', ')} WHERE id = ?`,
  /** Earlier events keep the payload they were about. */
  keepFingerprint: 'UPDATE ibid_audit SET fingerprint = ?2 WHERE receipt = ?1 AND fingerprint IS NULL',

  receipt: `SELECT ${RECEIPT_COLUMNS} FROM ibid_receipt WHERE id = ? AND key = ? AND scope = ? AND tenant = ?`,
  fingerprint: 'SELECT fingerprint FROM ibid_receipt WHERE id = ? AND key = ? AND scope = ? AND tenant = ?',
  past: 'SELECT id FROM ibid_past WHERE id = ? AND key = ? AND scope = ? AND tenant = ?',
  record: `INSERT OR FAIL INTO ibid_audit
    (receipt, at, event, state, epoch, attempt, count, by, why, fingerprint, tenant, scope, key)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
} as const

export type Statements = Readonly<Record<keyof typeof SQL, Statement>>

export function prepareStatements(db: Database): Statements {
  const names = Object.keys(SQL) as (keyof typeof SQL)[]
  return Object.fromEntries(names.map((name) => [name, rows(db.prepare(SQL[name]))])) as Statements
}
