/**
 * The raw limit of SQLite: the same rows as the store writes (a receipt, and an audit row for each of its changes), the
 * same random keys, results of about 300 bytes, every commit on the disk before it counts. No engine, no store, no
 * thread: statements in a loop, written by hand, as fast as we could make them.
 *
 * Two layouts. `append`: rows in the order of their claims, and a Map in memory says which keys are taken; the best for
 * an empty file that one process has to itself. `index`: a unique index on a 16-byte digest of the key, which is what
 * one would write without thinking about growth. `node bench/raw-sqlite.mjs` shows both.
 */
import { hash, randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { newKey, resultOf, SCOPE, TENANT, WARM_UP } from './workload.mjs'

const WINDOW_MS = 604_800_000
const LEASE_MS = 30_000

function openFile(file) {
  const builtIn = process.getBuiltinModule('node:sqlite')
  const { DatabaseSync } = builtIn ?? createRequire(import.meta.url)('@photostructure/sqlite')
  const db = new DatabaseSync(file)
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -16384')
  db.exec('PRAGMA wal_autocheckpoint = 2000; PRAGMA temp_store = MEMORY')
  return db
}

function digestOf(key) {
  return hash('sha256', `${TENANT.length}:${SCOPE.length}:${TENANT}${SCOPE}${key}`, 'buffer').subarray(0, 16)
}

/** The statements of one layout on a fresh file. `claim` and `settle` are for inside a transaction. */
function prepare(db, layout) {
  const digest = layout === 'index'
  db.exec(`
    CREATE TABLE receipt (id INTEGER PRIMARY KEY, state INTEGER, until INTEGER, at INTEGER, epoch INTEGER,
      attempt INTEGER, max_attempts INTEGER, recovery INTEGER, lease_ms INTEGER, window_ms INTEGER, created_at INTEGER,
      event INTEGER, token TEXT, tenant TEXT, scope TEXT, key TEXT, fingerprint TEXT, outcome TEXT
      ${digest ? ', digest BLOB' : ''});
    CREATE INDEX receipt_ends ON receipt (state, until);
    CREATE TABLE audit (id INTEGER PRIMARY KEY, receipt INTEGER, at INTEGER, event INTEGER, state INTEGER,
      epoch INTEGER, attempt INTEGER, count INTEGER, by TEXT, why TEXT);
    CREATE INDEX audit_receipt ON audit (receipt);
    ${digest ? 'CREATE UNIQUE INDEX receipt_digest ON receipt (digest);' : ''}
    CREATE TRIGGER claimed AFTER INSERT ON receipt BEGIN INSERT INTO audit (receipt, at, event, state, epoch, attempt,
      count) VALUES (new.id, new.at, new.event, new.state, new.epoch, new.attempt, 1); END;
    CREATE TRIGGER settled AFTER UPDATE ON receipt BEGIN INSERT INTO audit (receipt, at, event, state, epoch, attempt,
      count) VALUES (new.id, new.at, new.event, new.state, new.epoch, new.attempt, 1); END;`)
  const columns = `state, until, at, epoch, attempt, max_attempts, recovery, lease_ms, window_ms, created_at, event,
    token, tenant, scope, key, fingerprint`
  const insert = db.prepare(`INSERT OR FAIL INTO receipt (id, ${columns}${digest ? ', digest' : ''})
    VALUES (?, 0, ?, ?, ?, 1, 5, 1, ${LEASE_MS}, ${WINDOW_MS}, ?, 0, ?, ?, ?, ?, ?${digest ? ', ?' : ''})`)
  const update = db.prepare(`UPDATE OR FAIL receipt SET state = 2, until = ?, at = ?, event = 6, outcome = ?
    WHERE ${digest ? 'digest' : 'id'} = ? AND token = ? AND state = 0 AND key = ? AND scope = ? AND tenant = ?`)
  const taken = new Map()
  let lastId = 0

  return {
    claim({ key, token, fingerprint }, now) {
      const id = ++lastId
      const values = [id, now + LEASE_MS, now, now * 1_000, now, token, TENANT, SCOPE, key, fingerprint]
      if (digest) values.push(digestOf(key))
      else if (taken.has(key)) throw new RangeError('taken')
      else taken.set(key, id)
      insert.get(...values)
    },
    settle({ key, token, outcome }, now) {
      const where = digest ? digestOf(key) : taken.get(key)
      const { changes } = update.run(now + WINDOW_MS, now, outcome, where, token, key, SCOPE, TENANT)
      if (Number(changes) !== 1) throw new RangeError('not settled')
    },
  }
}

function newIntents(count) {
  return Array.from({ length: count }, () => {
    const key = newKey()
    return {
      key,
      token: randomBytes(16).toString('base64url'),
      fingerprint: `1:${randomBytes(32).toString('hex')}`,
      outcome: JSON.stringify({ value: resultOf(key) }),
    }
  })
}

function transaction(db, intents, write) {
  db.exec('BEGIN IMMEDIATE')
  const now = Date.now()
  for (const intent of intents) write(intent, now)
  db.exec('COMMIT')
}

function pairs(db, { claim, settle }, intents, batch) {
  for (let at = 0; at < intents.length; at += batch) {
    const some = intents.slice(at, at + batch)
    transaction(db, some, claim)
    transaction(db, some, settle)
  }
}

function onFile({ file, existing = 0, layout }, measure) {
  for (const end of ['', '-wal', '-shm']) if (existsSync(file + end)) rmSync(file + end)
  const db = openFile(file)
  try {
    const statements = prepare(db, layout)
    db.exec('PRAGMA synchronous = OFF')
    for (let left = existing; left > 0; left -= 10_000) {
      pairs(db, statements, newIntents(Math.min(left, 10_000)), 1_000)
    }
    db.exec('PRAGMA wal_checkpoint(TRUNCATE); PRAGMA synchronous = FULL')
    return measure(db, statements)
  } finally {
    db.close()
  }
}

/** Claims and settles in batches, one transaction each: pairs per second. */
export function rawBatched({
  file,
  count,
  batch = 256,
  existing = 0,
  layout = layoutFor(existing),
  warmUpMs = 0,
}) {
  return onFile({ file, existing, layout }, (db, statements) => {
    for (const endMs = performance.now() + warmUpMs; performance.now() < endMs;)
      pairs(db, statements, newIntents(batch), batch)
    const intents = newIntents(count)
    const start = performance.now()
    pairs(db, statements, intents, batch)
    return Math.round((count / (performance.now() - start)) * 1_000)
  })
}

/** One write at a time, each with its own commit: pairs per second, however many callers there are. */
export function rawNaive({ file, count, existing = 0, layout = layoutFor(existing), warmUpMs }) {
  return rawBatched({ file, count, batch: 1, existing, layout, warmUpMs })
}

/** How long one caller waits for two durable commits, a claim and its settlement: microseconds, the median. */
export function rawCommits({ file, count, existing = 0, layout = layoutFor(existing) }) {
  return onFile({ file, existing, layout }, (db, statements) => {
    const times = newIntents(count + WARM_UP).map((intent) => {
      const start = performance.now()
      transaction(db, [intent], statements.claim)
      transaction(db, [intent], statements.settle)
      return (performance.now() - start) * 1_000
    })
    return Math.round(times.slice(WARM_UP).toSorted((a, b) => a - b)[count >> 1])
  })
}

/** A map of millions is no limit that anybody could live with. */
function layoutFor(existing) {
  return existing > 0 ? 'index' : 'append'
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const directory = mkdtempSync(join(tmpdir(), 'ibid-raw-'))
  const file = join(directory, 'raw.db')
  try {
    for (const layout of ['append', 'index']) {
      const batched = rawBatched({ file, count: 60_000, layout })
      const naive = rawNaive({ file, count: 2_000, layout })
      const micros = rawCommits({ file, count: 2_000, layout })
      console.log(
        `${layout}: ${batched} pairs/s in batches of 256, ${naive} one by one; ${micros} us for a pair`,
      )
    }
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
