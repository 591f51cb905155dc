/** What the tests of the SQLite store share: a folder that is removed, stores that are closed, a look at the file. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach } from 'vitest'
import { sqliteStore, type SqliteOptions, type SqliteTransaction } from '../../dist/stores/sqlite/index.js'
import { type Database, openDatabase, row, rows, type Value } from '../../dist/stores/sqlite/open.js'
import type { Store } from '../../src/store.js'

const leftovers: (() => unknown)[] = []

afterEach(async () => {
  for (const remove of leftovers.splice(0).toReversed()) await remove()
})

export function newFile(): string {
  const directory = mkdtempSync(join(tmpdir(), 'ibid-sqlite-'))
  leftovers.push(() => rmSync(directory, { recursive: true, force: true }))
  return join(directory, 'ibid.db')
}

/** The compiled store, with its worker. */
export function open(file: string, options: SqliteOptions = {}): Store<SqliteTransaction> {
  const store = sqliteStore(file, options)
  leftovers.push(() => store.close())
  return store
}

/** A second pair of hands on the file, for what a store would never do. */
export function tamper(file: string): Database {
  const db = openDatabase({ file })
  leftovers.push(() => {
    try {
      db.close()
    } catch {
      // The test has closed it.
    }
  })
  return db
}

export function valueOf(db: Database, sql: string, ...values: Value[]): Value | undefined {
  return row(rows(db.prepare(sql)), ...values)?.[0]
}

export function countOf(db: Database, table: string): number {
  return Number(valueOf(db, `SELECT count(*) FROM ${table}`))
}

export function batchesOf<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, i) =>
    items.slice(i * size, (i + 1) * size),
  )
}
