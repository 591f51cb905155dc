/** check: does the file keep its promises as it is opened here? */
import type { StoreFinding, StoreReport } from '../../store.js'
import type { Connection } from './connection.js'
import { driver, pragma, row, rows } from './open.js'
import { SCHEMA_VERSION } from './schema.js'

const FULL = 2

export function check({ db }: Connection): StoreReport {
  const journalMode = String(pragma(db, 'journal_mode'))
  const synchronous = Number(pragma(db, 'synchronous'))
  const pageBytes = Number(pragma(db, 'page_size'))
  const findings: StoreFinding[] = []
  if (journalMode !== 'wal') {
    findings.push({
      level: 'error',
      code: 'NOT_WAL',
      message: `the file's journal mode is ${journalMode}: its file system cannot keep a write-ahead log`,
      remedy: 'put the file on a local disk, not on a network or shared file system',
    })
  }
  if (synchronous < FULL) {
    findings.push({
      level: 'error',
      code: 'NOT_DURABLE',
      message: `synchronous is ${synchronous}, not FULL: a power cut can take back what was acknowledged`,
      remedy: 'let nothing else set PRAGMA synchronous on this connection',
    })
  }
  return {
    store: 'sqlite',
    findings,
    facts: {
      driver: driver().name,
      sqlite: String(row(rows(db.prepare('SELECT sqlite_version()')))?.[0]),
      schema: SCHEMA_VERSION,
      journalMode,
      synchronous,
      pageBytes,
      fileBytes: Number(pragma(db, 'page_count')) * pageBytes,
      freeBytes: Number(pragma(db, 'freelist_count')) * pageBytes,
    },
  }
}
