/** Is the server set up so that what it acknowledges is still there after a crash, and is it the primary? */
import type { StoreFinding, StoreReport } from '../../store.js'
import { type Desk, send } from './desk.js'
import type { Driver } from './driver.js'
import type { PostgresRisk } from './options.js'
import type { Row } from './rows.js'

const OLDEST = 140_000

interface Facts {
  readonly version: number
  readonly settings: Readonly<Record<string, string>>
  readonly isReplica: boolean
  /** Connected replicas, and those of them that a commit waits for. */
  readonly replicas: number
  readonly synchronous: number
  readonly unlogged: number
  /** As the server estimated it when it last looked; below zero: it never did. */
  readonly receipts: number
}

export async function check(desk: Desk): Promise<StoreReport> {
  const facts = await read(desk)
  const found = [
    ...durability(facts),
    ...replication(facts),
    ...warnings(facts, desk.driver),
    ...surroundings(facts, desk.driver.own),
  ]
  return {
    store: 'postgres',
    findings: found.map(({ risk, ...finding }) =>
      risk && desk.terms.accept.includes(risk) ? { ...finding, level: 'warning' as const } : finding,
    ),
    facts: {
      schema: desk.terms.schema,
      replicas: facts.replicas,
      synchronousReplicas: facts.synchronous,
      ...(facts.receipts < 0 ? {} : { receiptsAbout: facts.receipts }),
      ...facts.settings,
    },
  }
}

const SETTINGS = [
  'server_version',
  'fsync',
  'full_page_writes',
  'synchronous_commit',
  'synchronous_standby_names',
  'client_min_messages',
  'server_encoding',
  'extra_float_digits',
  'default_transaction_isolation',
  'autovacuum',
  'data_checksums',
  'max_connections',
]

async function read(desk: Desk): Promise<Facts> {
  const text = `select current_setting('server_version_num')::int, pg_is_in_recovery(),
  (select count(*)::int from pg_stat_replication),
  (select count(*)::int from pg_stat_replication where sync_state in ('sync', 'quorum')),
  (select count(*)::int from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = $1 and c.relkind = 'r' and c.relpersistence <> 'p'),
  (select c.reltuples::float8 from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = $1 and c.relname = 'receipts'),
  ${SETTINGS.map((name) => `current_setting('${name}', true)`).join(', ')}`
  const rows = await send(desk.driver, { name: '', text }, [desk.terms.schema])
  const [version, isReplica, replicas, synchronous, unlogged, receipts, ...values] = rows[0] as Row
  return {
    version: Number(version),
    isReplica: isReplica === true,
    replicas: Number(replicas),
    synchronous: Number(synchronous),
    unlogged: Number(unlogged),
    receipts: Number(receipts ?? -1),
    settings: Object.fromEntries(SETTINGS.map((name, i) => [name, (values[i] as string | null) ?? ''])),
  }
}

type Found = StoreFinding & { readonly risk?: PostgresRisk }

function durability({ settings, unlogged }: Facts): readonly Found[] {
  const found: Found[] = []
  if (settings['fsync'] === 'off') {
    found.push({
      level: 'error',
      code: 'FSYNC_OFF',
      message: 'fsync is off: a crash of the machine can lose or corrupt acknowledged receipts',
      remedy: "set fsync = on, or accept: ['fsync-off']",
      risk: 'fsync-off',
    })
  }
  if (settings['full_page_writes'] === 'off') {
    found.push({
      level: 'error',
      code: 'FULL_PAGE_WRITES_OFF',
      message: 'full_page_writes is off: a crash in the middle of writing a page can corrupt receipts',
      remedy: "set full_page_writes = on, or accept: ['full-page-writes-off']",
      risk: 'full-page-writes-off',
    })
  }
  if (settings['synchronous_commit'] === 'off') {
    found.push({
      level: 'error',
      code: 'SYNCHRONOUS_COMMIT_OFF',
      message:
        'synchronous_commit is off: a crash loses the last claims and outcomes although they were acknowledged',
      remedy: "set synchronous_commit = on for this role or pool, or accept: ['synchronous-commit-off']",
      risk: 'synchronous-commit-off',
    })
  }
  if (unlogged > 0) {
    found.push({
      level: 'error',
      code: 'UNLOGGED_TABLES',
      message: 'tables of the schema are unlogged: a crash of the server empties them',
      remedy: "alter table … set logged, or accept: ['unlogged-tables']",
      risk: 'unlogged-tables',
    })
  }
  return found
}

function replication({ isReplica, replicas, synchronous, settings }: Facts): readonly Found[] {
  if (isReplica) {
    return [
      {
        level: 'error',
        code: 'REPLICA',
        message: 'this server is a replica: it cannot take claims, and what it has may be old',
        remedy: 'point the store at the primary, or name all servers in the URL',
      },
    ]
  }
  const local = settings['synchronous_commit'] === 'local' && settings['synchronous_standby_names'] !== ''
  if (replicas === 0 || (synchronous > 0 && !local)) return []
  return [
    {
      level: 'warning',
      code: 'ASYNCHRONOUS_REPLICAS',
      message: `no commit waits for a replica (${replicas} connected): a failover can lose the last acknowledged receipts`,
      remedy:
        'set synchronous_standby_names and synchronous_commit = on, or hold payments while a failover is settled',
    },
  ]
}

/** A commit that was kept from waiting for its standby is told by a warning, and by nothing else. */
function warnings({ settings }: Facts, { seesCommits }: Driver): readonly Found[] {
  if (!seesCommits && settings['synchronous_standby_names'] !== '') {
    return [
      {
        level: 'warning',
        code: 'WARNINGS_NOT_SEEN',
        message:
          'postgres.js does not show warnings: a commit whose wait for its standby was cancelled is acknowledged, and a failover can lose it',
        remedy: 'give the store a URL or a pool of pg, or never cancel a session that waits for SyncRep',
      },
    ]
  }
  if (!seesCommits || settings['client_min_messages'] !== 'error') return []
  return [
    {
      level: 'error',
      code: 'WARNINGS_OFF',
      message:
        'client_min_messages is error: a commit whose wait for its standby was cancelled would be acknowledged',
      remedy: 'set client_min_messages = warning for this role or pool, or give the store a URL of its own',
    },
  ]
}

function surroundings({ version, settings }: Facts, own: boolean): readonly Found[] {
  const found: Found[] = []
  if (version < OLDEST) {
    found.push({
      level: 'error',
      code: 'SERVER_TOO_OLD',
      message: `this server is Postgres ${settings['server_version']}; 14 is the oldest that works`,
      remedy: 'upgrade the server',
    })
  }
  if (settings['server_encoding'] !== 'UTF8') {
    found.push({
      level: 'error',
      code: 'NOT_UTF8',
      message: `this database is encoded in ${settings['server_encoding']}: keys and outcomes with other letters cannot be kept`,
      remedy: "give the store a database that was made with encoding 'UTF8'",
    })
  }
  if (Number(settings['extra_float_digits']) < 1) {
    found.push({
      level: 'error',
      code: 'INEXACT_NUMBERS',
      message: `extra_float_digits is ${settings['extra_float_digits']}: epochs come back rounded, and two attempts can have the same`,
      remedy: 'set extra_float_digits = 1 for this role or pool, or give the store a URL of its own',
    })
  }
  if (settings['autovacuum'] === 'off') {
    found.push({
      level: 'warning',
      code: 'AUTOVACUUM_OFF',
      message: 'autovacuum is off: the room of forgotten receipts is never used again',
      remedy: 'set autovacuum = on, or vacuum the tables of the schema yourself',
    })
  }
  if (!own && settings['default_transaction_isolation'] !== 'read committed') {
    found.push({
      level: 'warning',
      code: 'ISOLATION',
      message: `sessions of this pool are ${settings['default_transaction_isolation']}: batches that meet are sent again`,
      remedy: "give the store a URL of its own, or set default_transaction_isolation = 'read committed'",
    })
  }
  return found
}
