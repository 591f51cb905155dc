/**
 * The driver and the settings of a connection: `node:sqlite` where this Node has it, else `@photostructure/sqlite`,
 * which has the same API. WAL with synchronous=FULL: a commit is on the disk before it is acknowledged, and
 * readers do not wait for the writer.
 */
import { createRequire } from 'node:module'
import { storeFailure } from '../../core/errors.js'

export type Value = string | number | bigint | null | Uint8Array
export type Row = readonly Value[]

export interface Statement {
  run(...values: Value[]): { readonly changes: number | bigint; readonly lastInsertRowid: number | bigint }
  get(...values: Value[]): unknown
  all(...values: Value[]): unknown[]
  iterate(...values: Value[]): IterableIterator<unknown>
  /** Not in every release of node:sqlite. */
  setReturnArrays?(on: boolean): void
}

export interface Database {
  exec(sql: string): void
  prepare(sql: string): Statement
  close(): void
  /** Not in every release of node:sqlite. */
  readonly isTransaction?: boolean
}

interface Driver {
  readonly name: string
  readonly open: (file: string) => Database
}

interface DriverModule {
  readonly DatabaseSync: new (file: string) => Database
}

export interface Settings {
  readonly file: string
  /** The most that the file may grow to; undefined: as far as the disk goes. */
  readonly maxBytes?: number | undefined
  /** Added to this computer's clock. */
  readonly clockOffset?: Float64Array | undefined
  /** Somebody else copies the log back and seals, so that a short call never waits for either. */
  readonly untidy?: boolean | undefined
}

const PAGE_BYTES = 4_096
const CACHE_KIB = 16_384
const CHECKPOINT_PAGES = 2_000
/** For a connection that leaves it to another, should that never come. */
const LATE_CHECKPOINT_PAGES = 20_000
/** What a log that a slow reader held up is cut back to. */
const LOG_BYTES = 64 * 1_024 * 1_024

let chosen: Driver | undefined

export function driver(): Driver {
  chosen ??= builtIn() ?? installed()
  return chosen
}

function builtIn(): Driver | undefined {
  // Asked for by name, so that nothing fails and no bundler stumbles where it is missing.
  const found = process.getBuiltinModule('node:sqlite') as unknown as DriverModule | undefined
  return found && { name: 'node:sqlite', open: (file) => new found.DatabaseSync(file) }
}

function installed(): Driver {
  const name = '@photostructure/sqlite'
  try {
    const found = createRequire(import.meta.url)(name) as DriverModule
    return { name, open: (file) => new found.DatabaseSync(file) }
  } catch (cause) {
    throw storeFailure(
      `this Node has no node:sqlite, and ${name} cannot be loaded`,
      `run "npm install ${name}", or use Node 22.13 or newer`,
      false,
      cause,
    )
  }
}

/** Opens the file and makes the settings hold. Writes nothing but the header of a new file. */
export function openDatabase({ file, maxBytes, untidy }: Settings): Database {
  const db = driver().open(file)
  try {
    // Locks are waited for in the event loop. A call that is refused after a wait of its own would also take the
    // process down with it, if that ends in the meantime: @photostructure/sqlite cannot throw in a thread that stops.
    db.exec('PRAGMA busy_timeout = 0')
    // Only an empty file takes the page size.
    db.exec(`PRAGMA page_size = ${PAGE_BYTES}`)
    if (pragma(db, 'journal_mode') !== 'wal') db.exec('PRAGMA journal_mode = WAL')
    db.exec('PRAGMA synchronous = FULL')
    // Where fsync does not reach the platter (macOS), the stronger one; elsewhere these do nothing.
    db.exec('PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON')
    db.exec(`PRAGMA cache_size = -${CACHE_KIB}; PRAGMA temp_store = MEMORY`)
    const checkpointPages = untidy === true ? LATE_CHECKPOINT_PAGES : CHECKPOINT_PAGES
    db.exec(`PRAGMA wal_autocheckpoint = ${checkpointPages}; PRAGMA journal_size_limit = ${LOG_BYTES}`)
    if (maxBytes !== undefined) {
      const pages = Math.floor(maxBytes / Number(pragma(db, 'page_size')))
      db.exec(`PRAGMA max_page_count = ${Math.max(1, pages)}`)
    }
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

export function pragma(db: Database, name: string): Value | undefined {
  return row(rows(db.prepare(`PRAGMA ${name}`)))?.[0]
}

/** The statement, set to give its rows as arrays. */
export function rows(statement: Statement): Statement {
  statement.setReturnArrays?.(true)
  return statement
}

export function row(statement: Statement, ...values: Value[]): Row | undefined {
  return asRow(statement.get(...values))
}

export function asRow(got: unknown): Row | undefined {
  if (got === undefined || got === null) return undefined
  return Array.isArray(got) ? (got as Row) : (Object.values(got) as Row)
}
