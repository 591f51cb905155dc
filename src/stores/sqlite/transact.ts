/**
 * transact: the caller's writes and the settling swap in one transaction, on a connection of the caller's thread. It
 * holds the file's only write lock from the first to the last line of `work`: everybody else's claims wait for it,
 * in this process and in others, and fail when that takes longer than their `busyMs`. A call that claims inside of
 * `work`, such as `once`, waits for itself until then.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { type IbidError, transactionEnded } from '../../core/errors.js'
import { mustNotEnd } from '../../core/transaction-sql.js'
import type { Swap, Swapped } from '../../store.js'
import { readClock, rollBack } from './connection.js'
import { failureOf, toError } from './errors.js'
import { type Database, openDatabase, row, type Row, type Settings, type Value } from './open.js'
import { prepareStatements, type Statements } from './statements.js'
import { replace } from './swap.js'

/** The caller's writes: SQL on the same file. Good until `work` has returned. */
export interface SqliteTransaction {
  run(
    sql: string,
    ...values: Value[]
  ): { readonly changes: number | bigint; readonly lastInsertRowid: number | bigint }
  /** The first row, by column names; undefined where there is none. */
  get(sql: string, ...values: Value[]): Record<string, Value> | undefined
  all(sql: string, ...values: Value[]): Record<string, Value>[]
}

export interface Own {
  readonly db: Database
  readonly sql: Statements
}

/** Opens what was not open, and takes the write lock, without ever blocking the thread. */
export async function begin(own: Own | undefined, settings: Settings, busyMs: number): Promise<Own> {
  const deadline = performance.now() + busyMs
  for (;;) {
    try {
      own ??= openOwn(settings)
      own.sql.begin.get()
      return own
    } catch (error) {
      const failure = failureOf(error, settings.file)
      if (failure.kind !== 'busy' || performance.now() >= deadline) throw toError(failure)
      await sleep(1)
    }
  }
}

function openOwn(settings: Settings): Own {
  const db = openDatabase(settings)
  // The other thread writes the log back.
  db.exec('PRAGMA wal_autocheckpoint = 0')
  return { db, sql: prepareStatements(db) }
}

type Work<T> = (tx: SqliteTransaction, swap: (change: Swap) => Promise<Swapped>) => Promise<T>
type Locate = (change: Swap) => Promise<readonly number[]>

/** Inside the transaction that `begin` began. */
export async function runWork<T>(own: Own, settings: Settings, locate: Locate, work: Work<T>): Promise<T> {
  let open = true
  let settling = false
  let late: IbidError | undefined
  /** SQLite has ended the transaction by itself, or left it half done: nothing of it may be kept. */
  let broken: IbidError | undefined

  function during<R>(action: () => R): R {
    if (!open) throw transactionEnded()
    if (broken !== undefined) throw broken
    try {
      return action()
    } catch (error) {
      const lost = own.db.isTransaction === false || failureOf(error, settings.file).kind !== 'call'
      if (lost) broken = toError(failureOf(error, settings.file))
      throw error
    }
  }

  /** What came after the swap could undo it, by going back to a savepoint: work that still asks then is not done. */
  function asked<R>(action: () => R): R {
    if (!settling) return during(action)
    late ??= transactionEnded()
    throw late
  }

  async function swap(change: Swap): Promise<Swapped> {
    settling = true
    const ids = await locate(change)
    const now = readClock(settings.clockOffset)
    const epoch = during(() => replace(own.sql, findAmong(own.sql, ids, change), change, now))
    return epoch === null ? { done: false, now } : { done: true, now, epoch }
  }

  try {
    const result = await work(transactionOf(own.db, asked), swap)
    if (late) throw late
    during(() => own.sql.commit.get())
    return result
  } catch (error) {
    rollBack(own.sql)
    throw broken ?? error
  } finally {
    open = false
  }
}

function findAmong(sql: Statements, ids: readonly number[], { next }: Swap): Row | undefined {
  for (const id of ids) {
    const found = row(sql.receipt, id, next.key, next.scope, next.tenant)
    if (found) return found
  }
  return undefined
}

function transactionOf(db: Database, during: <R>(action: () => R) => R): SqliteTransaction {
  function prepare(sql: string): ReturnType<Database['prepare']> {
    mustNotEnd(sql)
    return db.prepare(sql)
  }
  return {
    run: (sql, ...values) => during(() => prepare(sql).run(...values)),
    get: (sql, ...values) => during(() => prepare(sql).get(...values) as Record<string, Value> | undefined),
    all: (sql, ...values) => during(() => prepare(sql).all(...values) as Record<string, Value>[]),
  }
}
