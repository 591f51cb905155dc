/**
 * Brings the tables to the newest version, under an advisory lock, so that any number of processes can start at
 * once. A schema that a newer ibid has migrated is left alone.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Driver } from './driver.js'
import { notMigrated, tooNew, wasLocked } from './errors.js'
import type { Terms } from './options.js'
import { type Migration, migrations, NEWEST, quoteName } from './schema.js'
import type { Statement } from './statements.js'

const LOCK_MS = 100
const PAUSE_MS = 200
const LONGEST_WAIT_MS = 30_000

export async function migrate(driver: Driver, { schema, migrate: allowed }: Terms): Promise<void> {
  const version = await versionOf(driver, schema)
  if (version > NEWEST) throw tooNew(schema, version, NEWEST)
  if (version === NEWEST) return
  if (!allowed) throw notMigrated(schema, version)
  for (const migration of migrations(schema)) {
    if (migration.version <= version) continue
    await step(driver, schema, migration)
  }
  await migrate(driver, { schema, migrate: false } as Terms)
}

/**
 * Asks again for a table that somebody has for longer than a moment: while one waits for all of it, everybody else
 * waits behind, and claims would give up.
 */
async function step(driver: Driver, schema: string, { version, sql }: Migration): Promise<void> {
  const stopMs = performance.now() + LONGEST_WAIT_MS
  for (;;) {
    try {
      await driver.script(onlyOnce(schema, version, sql))
      return
    } catch (error) {
      // Whatever it was, what counts is that it is done: somebody else may have been first.
      if ((await versionOf(driver, schema)) >= version) return
      if (!wasLocked(error) || performance.now() > stopMs) throw error
      await sleep(PAUSE_MS)
    }
  }
}

/**
 * Waits for its turn, then stops where another process has done the work meanwhile: by itself, or, where the session
 * has not heard of that process's tables yet, because they are there.
 */
function onlyOnce(schema: string, version: number, sql: string): string {
  const meta = text(`${quoteName(schema)}.meta`)
  const count = `(select count(*) from ${quoteName(schema)}.meta where version >= ${version})`
  return `select set_config('lock_timeout', '0', true), set_config('statement_timeout', '30s', true);
select pg_advisory_xact_lock(hashtextextended(${text(`ibid migration ${schema}`)}, 0));
select set_config('lock_timeout', '${LOCK_MS}ms', true);
do $ibid$ begin
  if to_regclass(${meta}) is not null then
    if ${count} > 0 then raise exception 'already migrated'; end if;
  end if;
end $ibid$;
${sql}`
}

async function versionOf(driver: Driver, schema: string): Promise<number> {
  const found = await driver.run(FIND, [`${quoteName(schema)}.meta`])
  if (found[0]?.[0] !== true) return 0
  const read: Statement = { name: '', text: `select version from ${quoteName(schema)}.meta` }
  const rows = await driver.run(read, [])
  return Number(rows[0]?.[0] ?? 0)
}

const FIND: Statement = { name: '', text: 'select to_regclass($1::text) is not null' }

function text(value: string): string {
  return `'${value.replaceAll("'", "''")}'`
}
