/** check: does the file keep its promises as it is opened here? */
import type { StoreFinding, StoreReport } from '../../store.js'
import type { Connection } from './connection.js'
import { toGeneration } from './generation.js'
import { asRow, driver, pragma, type Row, row, rows } from './open.js'
import { SCHEMA_VERSION } from './schema.js'

const FULL = 2
const MOST_COUNTED = 10_000

export function check(connection: Connection): StoreReport {
  const { db } = connection
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
      ...(findings.length === 0 && countOf(connection)),
    },
  }
}

/** Counted while they are few; past that, all that was ever claimed in the generations that still have any. */
function countOf({ db, sql, catalogue }: Connection): Readonly<Record<string, number>> {
  const few = row(
    rows(db.prepare('SELECT count(*) FROM (SELECT 1 FROM ibid_receipt LIMIT ?)')),
    MOST_COUNTED + 1,
  )
  const receipts = Number(few?.[0])
  if (receipts <= MOST_COUNTED) return { receipts }
  const generations = sql.generations.all().map((got) => toGeneration(asRow(got) as Row))
  const sealedTo = Math.max(0, ...generations.map(({ id }) => id))
  const sealed = generations.filter(({ live }) => live).reduce((sum, { id, after }) => sum + id - after, 0)
  return { receiptsAbout: sealed + catalogue.lastId - sealedTo }
}
