/** One open file: its statements, its catalogue, its clock, and the transactions that everything runs in. */
import { Catalogue, type CatalogueCopy } from './catalogue.js'
import { type Database, openDatabase, type Settings } from './open.js'
import { migrate } from './schema.js'
import { prepareStatements, type Statements } from './statements.js'

export interface Connection {
  readonly db: Database
  readonly sql: Statements
  readonly catalogue: Catalogue
  /** The store's clock: this computer's, in whole milliseconds. */
  readonly now: () => number
}

export function connect(settings: Settings): Connection {
  const db = openDatabase(settings)
  try {
    migrate(db)
    const sql = prepareStatements(db)
    return { db, sql, catalogue: new Catalogue(sql), now: () => readClock(settings.clockOffset) }
  } catch (error) {
    db.close()
    throw error
  }
}

/** With what the catalogue of another connection to the same file knew. */
export function knowing(connection: Connection, known: CatalogueCopy): Connection {
  return { ...connection, catalogue: new Catalogue(connection.sql, known) }
}

export function readClock(offset: Float64Array | undefined): number {
  return Math.floor(Date.now() + (offset?.[0] ?? 0))
}

/** Nothing that `work` looks at can change before it is committed: the lock is taken first. */
export function inWrite<T>({ sql, catalogue, now }: Connection, work: (now: number) => T): T {
  sql.begin.get()
  try {
    catalogue.refresh()
    const result = work(now())
    sql.commit.get()
    catalogue.committed()
    return result
  } catch (error) {
    catalogue.forget()
    rollBack(sql)
    throw error
  }
}

/** One unchanging view of the file. */
export function inRead<T>({ sql, catalogue, now }: Connection, work: (now: number) => T): T {
  sql.beginRead.get()
  try {
    catalogue.refresh()
    return work(now())
  } finally {
    rollBack(sql)
  }
}

export function rollBack(sql: Pick<Statements, 'rollback'>): void {
  try {
    sql.rollback.get()
  } catch {
    // SQLite has done it by itself: it does where a disk is full or broken.
  }
}

/** Copies the log back into the file as far as nobody still reads it. */
export function checkpoint({ sql }: Connection): void {
  sql.checkpoint.get()
}
