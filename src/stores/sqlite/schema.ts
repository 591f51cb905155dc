/**
 * What the file holds, and how an older file becomes a newer one. The version stands in a table of our own and not
 * in `user_version`, because the file may also hold the tables of the program, which has its own migrations.
 *
 * - `ibid_receipt`: rows in the order of their claims. No index on the address: see catalogue.ts.
 * - `ibid_audit`: written by triggers, so that no change can be made without its note. An event of a receipt
 *   leaves out what the receipt says; `ibid_past` says it when the receipt is gone.
 * - `ibid_generation`, `ibid_run`: which ids were sealed together, and the hashes of their addresses, in slices.
 */
import { storeFailure } from '../../core/errors.js'
import { type Database, row, rows } from './open.js'

export const SCHEMA_VERSION = 1

const NOTE = `
  INSERT INTO ibid_audit (receipt, at, event, state, epoch, attempt, count, by, why)
  VALUES (new.id, new.at, new.event, new.state, new.epoch, new.attempt, 1, new.by, new.why);`

/** Entry n leads from version n to n + 1. */
const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE ibid_meta (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    version INTEGER NOT NULL,
    key0 INTEGER NOT NULL,
    key1 INTEGER NOT NULL,
    -- Raised whenever a generation comes or goes.
    catalogue INTEGER NOT NULL DEFAULT 0,
    sealed_to INTEGER NOT NULL DEFAULT 0,
    -- Of receipts that are gone: ids are never used again, epochs never go back.
    floor_id INTEGER NOT NULL DEFAULT 0,
    floor_epoch INTEGER NOT NULL DEFAULT 0
  );
  INSERT INTO ibid_meta (one, version, key0, key1)
  VALUES (1, 0, (random() & 0xffffffff) - 0x80000000, (random() & 0xffffffff) - 0x80000000);

  CREATE TABLE ibid_receipt (
    id INTEGER PRIMARY KEY,
    state INTEGER NOT NULL,
    until INTEGER,
    at INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    max_attempts INTEGER NOT NULL,
    recovery INTEGER NOT NULL,
    lease_ms INTEGER NOT NULL,
    window_ms INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    -- The last decision: the triggers copy it to the log.
    event INTEGER NOT NULL,
    by TEXT,
    why TEXT,
    token TEXT NOT NULL,
    tenant TEXT NOT NULL,
    scope TEXT NOT NULL,
    key TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    outcome TEXT
  );
  CREATE INDEX ibid_receipt_ends ON ibid_receipt (state, until);

  CREATE TABLE ibid_audit (
    id INTEGER PRIMARY KEY,
    receipt INTEGER,
    at INTEGER NOT NULL,
    -- Null: an event that was dropped, but whose id must not be used again.
    event INTEGER,
    state INTEGER,
    epoch INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    count INTEGER NOT NULL,
    by TEXT,
    why TEXT,
    fingerprint TEXT,
    tenant TEXT,
    scope TEXT,
    key TEXT
  );
  CREATE INDEX ibid_audit_receipt ON ibid_audit (receipt);
  CREATE TRIGGER ibid_claimed AFTER INSERT ON ibid_receipt BEGIN ${NOTE} END;
  CREATE TRIGGER ibid_swapped AFTER UPDATE ON ibid_receipt BEGIN ${NOTE} END;

  CREATE TABLE ibid_past (
    id INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    scope TEXT NOT NULL,
    key TEXT NOT NULL,
    fingerprint TEXT NOT NULL
  );

  CREATE TABLE ibid_generation (
    -- The last of its receipts: like that, no generation ever has the id of another.
    id INTEGER PRIMARY KEY,
    after INTEGER NOT NULL,
    -- 0: its receipts are gone, and only the log still knows them.
    live INTEGER NOT NULL
  );
  CREATE TABLE ibid_run (
    id INTEGER PRIMARY KEY,
    entries BLOB NOT NULL
  );
  `,
]

/** Brings the file to this version, whoever else is doing the same at this moment. */
export function migrate(db: Database): void {
  if (versionOf(db) === SCHEMA_VERSION) return
  db.exec('BEGIN EXCLUSIVE')
  try {
    for (let version = versionOf(db); version < SCHEMA_VERSION; version++)
      db.exec(MIGRATIONS[version] as string)
    db.exec(`UPDATE ibid_meta SET version = ${SCHEMA_VERSION}`)
    db.exec('COMMIT')
  } catch (error) {
    db.exec('ROLLBACK')
    throw error
  }
}

function versionOf(db: Database): number {
  const known = row(rows(db.prepare(`SELECT 1 FROM sqlite_schema WHERE name = 'ibid_meta'`)))
  const version = known ? Number(row(rows(db.prepare('SELECT version FROM ibid_meta')))?.[0]) : 0
  assertReadable(version)
  return version
}

export function assertReadable(version: number): void {
  if (version <= SCHEMA_VERSION) return
  throw storeFailure(
    `the file has schema version ${version}, and this release of ibid knows versions up to ${SCHEMA_VERSION}; nothing was written`,
    'update ibid here, or give it a file of its own',
    false,
  )
}
