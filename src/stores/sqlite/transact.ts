/**
 * transact: the caller's writes and the settling swap in one transaction, on a connection of the caller's thread. It
 * holds the file's only write lock from the first to the last line of `work`: everybody else's claims wait for it,
 * in this process and in others, and fail when that takes longer than their `busyMs`. A call that claims inside of
 * `work`, such as `once`, waits for itself until then.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { IbidError } from '../../core/errors.js'
import type { Swap, Swapped } from '../../store.js'
import { readClock, rollBack } from './connection.js'
import { failureOf, toError } from './errors.js'
import { type Database, openDatabase, row, type Row, type Settings, type Value } from './open.js'
import { prepareStatements, type Statements } from './statements.js'
import { replace } from './swap.js'

/** The caller's writes: SQL on the same file. Good until `work` has returned. */
export interface SqliteTransaction {
  run(sql: string, ...values: Value[]): { readonly changes: number | bigint; readonly lastInsertRowid: number | bigint }
  /** The first row, by column names; undefined where there is none. */
  get(sql: string, ...values: Value[]): Record<string, Value> | undefined
  all(sql: string, ...values: Value[]): Record<string, Value>[]
}

export interface Own {
  readonly db: Database
  readonly sql: Statements
}

/** Writes only through what the desk has brought to its version. */
export function ownConnection(settings: Settings): Own {
  const db = openDatabase(settings)
  // The event loop waits for locks, not this thread; and the other one writes the log back.
  db.exec('PRAGMA busy_timeout = 0; PRAGMA wal_autocheckpoint = 0')
  return { db, sql: prepareStatements(db) }
}

/** Takes the write lock without ever blocking the thread. */
export async function beginOwn({ sql }: Own, file: string, busyMs: number): Promise<void> {
  const deadline = performance.now() + busyMs
  for (;;) {
    try {
      sql.begin.get()
      return
    } catch (error) {
      const failure = failureOf(error, file)
      if (failure.kind !== 'busy' || performance.now() >= deadline) throw toError(failure)
      await sleep(1)
    }
  }
}

type Work<T> = (tx: SqliteTransaction, swap: (change: Swap) => Promise<Swapped>) => Promise<T>
type Locate = (change: Swap) => Promise<readonly number[]>

/** Inside the transaction that `beginOwn` began. */
export async function runWork<T>(own: Own, settings: Settings, locate: Locate, work: Work<T>): Promise<T> {
  let open = true
  const tx = transactionOf(own.db, () => open)
  async function swap(change: Swap): Promise<Swapped> {
    const ids = await locate(change)
    if (!open) throw ended()
    const now = readClock(settings.clockOffset)
    const epoch = replace(own.sql, findAmong(own.sql, ids, change), change, now)
    return epoch === null ? { done: false, now } : { done: true, now, epoch }
  }
  try {
    const result = await work(tx, swap)
    open = false
    commit(own.sql, settings.file)
    return result
  } catch (error) {
    rollBack(own.sql)
    throw error
  } finally {
    open = false
  }
}

function commit(sql: Statements, file: string): void {
  try {
    sql.commit.get()
  } catch (error) {
    throw toError(failureOf(error, file))
  }
}

function findAmong(sql: Statements, ids: readonly number[], { next }: Swap): Row | undefined {
  for (const id of ids) {
    const found = row(sql.receipt, id, next.key, next.scope, next.tenant)
    if (found) return found
  }
  return undefined
}

function transactionOf(db: Database, isOpen: () => boolean): SqliteTransaction {
  function prepare(sql: string): ReturnType<Database['prepare']> {
    if (!isOpen()) throw ended()
    if (/^\s*(begin|commit|end|rollback)\b/i.test(sql)) throw notYours(sql)
    return db.prepare(sql)
  }
  return {
    run: (sql, ...values) => prepare(sql).run(...values),
    get: (sql, ...values) => prepare(sql).get(...values) as Record<string, Value> | undefined,
    all: (sql, ...values) => prepare(sql).all(...values) as Record<string, Value>[],
  }
}

function ended(): IbidError {
  return new IbidError('this transaction has ended; nothing was written', {
    code: 'INVALID_INTENT',
    retriable: false,
    action: 'await everything that writes to the transaction before the work returns',
  })
}

function notYours(sql: string): IbidError {
  return new IbidError(`${JSON.stringify(sql.trim())} is not for the work inside a transaction; nothing was written`, {
    code: 'INVALID_INTENT',
    retriable: false,
    action: 'return to commit, throw to roll back; SAVEPOINT and RELEASE are free to use',
  })
}
