/** From what a user gives to a driver. */
import type { Driver } from './driver.js'
import { foreignPool, pgDriver } from './driver-pg.js'
import { postgresJsDriver } from './driver-postgres-js.js'
import { invalidConnection } from './errors.js'
import type { Terms } from './options.js'
import { ownPools } from './own-pools.js'
import { asPool, asPostgresJs, type PgPoolConfig, type PostgresConnection } from './shapes.js'

/** The server has a limit on each statement; one that hangs has none, so the client has one too, a little later. */
const GRACE_MS = 2_000

export function connect(connection: PostgresConnection, terms: Terms): Driver {
  const answerMs = terms.statementTimeoutMs + GRACE_MS
  const sql = asPostgresJs(connection)
  if (sql) return postgresJsDriver(sql, answerMs)
  if (typeof connection === 'string') return pgDriver(ownPools(connection, terms, answerMs))
  if (typeof connection !== 'object' || connection === null) {
    throw invalidConnection('the connection is neither a URL nor a client')
  }
  const pool = asPool(connection)
  if (pool) return pgDriver(foreignPool(pool, answerMs, terms.connectTimeoutMs))
  return pgDriver(ownPools(connection as PgPoolConfig, terms, answerMs))
}
