/**
 * The store for more than one machine: receipts and audit log in tables of a Postgres server that all processes
 * share. A claim is one `insert … on conflict do nothing` for a whole batch, a swap one conditional `update`. The
 * tables are made at first use, or by hand from `migrations()`.
 *
 * Known limits: LISTEN does not work through a pooler in transaction mode (waiters then poll), and a row that
 * somebody else has locked for long makes the batch that would change it fail after `lockTimeoutMs`, twice over.
 */
import { closed } from '../../core/errors.js'
import type { Store } from '../../store.js'
import { audit, record } from './audit.js'
import { check } from './check.js'
import { claim } from './claim.js'
import { connect } from './connect.js'
import type { Desk } from './desk.js'
import { createFrontier } from './frontier.js'
import { createHints } from './hints.js'
import { migrate } from './migrate.js'
import { type PostgresOptions, termsOf } from './options.js'
import { forget, purge } from './purge.js'
import { createRaces } from './races.js'
import { get, scan } from './read.js'
import type { PostgresConnection } from './shapes.js'
import { statements } from './statements.js'
import { swap } from './swap.js'
import { type PostgresTransaction, transact } from './transact.js'

export type { PostgresOptions, PostgresRisk } from './options.js'
export { type Migration, migrations } from './schema.js'
export type { PgPoolConfig, PgPoolLike, PostgresConnection, PostgresJsLike } from './shapes.js'
export type { PostgresBegin, PostgresExecutor, PostgresTransaction } from './transact.js'

/** `connection`: a URL, a configuration or a pool of `pg`, or a client of `postgres` (postgres.js). */
export function postgresStore(
  connection: PostgresConnection,
  options: PostgresOptions = {},
): Store<PostgresTransaction> {
  const terms = termsOf(options)
  const driver = connect(connection, terms)
  const sql = statements(terms.schema)
  const hints = createHints(driver, terms.schema)
  const frontier = createFrontier(driver, sql)
  const desk: Desk = {
    driver,
    terms,
    sql,
    hints,
    frontier,
    races: createRaces(),
    duplicates: { expected: false },
  }
  let migrating: Promise<void> | undefined
  let closing: Promise<void> | undefined

  /** Every call starts here: refused after close; the tables are there. */
  async function ready(): Promise<Desk> {
    if (closing) throw closed()
    migrating ??= migrate(driver, terms)
    try {
      await migrating
    } catch (error) {
      // Worth another try when somebody asks again, whatever it was.
      migrating = undefined
      throw error
    }
    return desk
  }

  return {
    name: 'postgres',
    maxBatch: terms.maxBatch,
    lanes: terms.lanes,
    maxOutcome: 1_000_000,
    claim: async (wanted) => await claim(await ready(), wanted),
    swap: async (changes) => await swap(await ready(), changes),
    get: async (addresses) => await get(await ready(), addresses),
    scan: async (query) => await scan(await ready(), query),
    purge: async (limit, auditMs) => await purge(await ready(), limit, auditMs),
    forget: async (claims) => await forget(await ready(), claims),
    record: async (events) => await record(await ready(), events),
    audit: async (query) => await audit(await ready(), query),
    check: async () => await check(await ready()),
    async close() {
      closing ??= Promise.resolve().then(async () => {
        desk.hints.close()
        await driver.close()
      })
      await closing
    },
    watch: (listener) => desk.hints.watch(listener),
    transact: async (work) => await transact(await ready(), work),
  }
}
