/** What a user can say about the store beside where it is. */
import { onlyKnown } from '../../core/known.js'
import { within } from '../../core/within.js'
import type { PostgresBegin } from './transact.js'

/** Risks that `check` refuses unless they are named. */
export const RISKS = [
  'fsync-off',
  'full-page-writes-off',
  'synchronous-commit-off',
  'unlogged-tables',
] as const
export type PostgresRisk = (typeof RISKS)[number]

export interface PostgresOptions {
  /** Where the tables are. Default 'ibid'. */
  readonly schema?: string
  /** Create and migrate the tables at first use. Default true; false: they have to be there. */
  readonly migrate?: boolean
  /** Named risks that `check` then only warns of. */
  readonly accept?: readonly PostgresRisk[]
  /** The most connections, from a URL or a configuration; transactions have as many of their own. Default 10. */
  readonly maxConnections?: number
  /** Default 5 s. */
  readonly connectTimeoutMs?: number
  /** How long the server may work on one statement of the store. Default 10 s; the client gives up 2 s later. */
  readonly statementTimeoutMs?: number
  /** How long a batch waits for a row that somebody has locked before the others go on without it. Default 200 ms. */
  readonly lockTimeoutMs?: number
  /** How long a transaction of `transact` may stand idle before the server ends it. Default 60 s. */
  readonly idleInTransactionMs?: number
  /** `remote_apply`, `remote_write`, `local`: what a commit waits for, where the server's own setting is not it. */
  readonly synchronousCommit?: 'on' | 'remote_apply' | 'remote_write' | 'local'
  /** Begins the transactions of `transact` in a library of your own. Default: the store's connections. */
  readonly begin?: PostgresBegin
  /** The largest batch, and how many of each kind are under way at once. Default 128 and 2. */
  readonly maxBatch?: number
  readonly lanes?: number
}

export type Terms = Required<Omit<PostgresOptions, 'begin' | 'synchronousCommit'>> &
  Pick<PostgresOptions, 'begin' | 'synchronousCommit'>

const KNOWN = [
  'schema',
  'migrate',
  'accept',
  'maxConnections',
  'connectTimeoutMs',
  'statementTimeoutMs',
  'lockTimeoutMs',
  'idleInTransactionMs',
  'synchronousCommit',
  'begin',
  'maxBatch',
  'lanes',
] satisfies (keyof PostgresOptions)[]
/** What a timer, and the server, can count to. */
const LONGEST_MS = 2_000_000_000

export function termsOf(options: PostgresOptions): Terms {
  onlyKnown(options, KNOWN, 'postgresStore')
  return {
    schema: options.schema ?? 'ibid',
    migrate: options.migrate ?? true,
    accept: options.accept ?? [],
    maxConnections: within(options.maxConnections ?? 10, 'maxConnections', 1, 10_000),
    connectTimeoutMs: within(options.connectTimeoutMs ?? 5_000, 'connectTimeoutMs', 0, LONGEST_MS),
    statementTimeoutMs: within(options.statementTimeoutMs ?? 10_000, 'statementTimeoutMs', 1, LONGEST_MS),
    lockTimeoutMs: within(options.lockTimeoutMs ?? 200, 'lockTimeoutMs', 0, LONGEST_MS),
    idleInTransactionMs: within(options.idleInTransactionMs ?? 60_000, 'idleInTransactionMs', 0, LONGEST_MS),
    maxBatch: within(options.maxBatch ?? 128, 'maxBatch', 1, 10_000),
    lanes: within(options.lanes ?? 2, 'lanes', 1, 1_000),
    ...(options.begin ? { begin: options.begin } : {}),
    ...(options.synchronousCommit ? { synchronousCommit: options.synchronousCommit } : {}),
  }
}
