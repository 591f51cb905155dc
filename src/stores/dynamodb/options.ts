/** What a user may say about the store, and what holds when nothing is said. */
import type { DynamoDBClient, DynamoDBClientConfig } from '@aws-sdk/client-dynamodb'
import { invalidIntent } from '../../core/errors.js'
import { onlyKnown } from '../../core/known.js'
import type { Clock } from './clock.js'

/**
 * Risks that `check` refuses unless they are named. `eventual-replicas`: the table has replicas in other regions
 * that are only eventually consistent, so a key that is used in two regions at once runs twice.
 */
export type DynamodbRisk = 'eventual-replicas'

export interface DynamodbStoreOptions {
  readonly table: string
  /** A client of the caller's, which stays open when the store is closed. */
  readonly client?: DynamoDBClient | undefined
  /** For a client of the store's own: region, endpoint, credentials and whatever else the SDK takes. */
  readonly config?: DynamoDBClientConfig | undefined
  /** How far the clock of any process that uses the table may be off. Default 1 000. */
  readonly maxSkewMs?: number | undefined
  /** How long one write or read may take, repetitions included. Default 5 000. */
  readonly timeoutMs?: number | undefined
  /** Named risks that `check` then only warns of. */
  readonly accept?: readonly DynamodbRisk[] | undefined
  /** Default: this computer's clock. */
  readonly clock?: Clock | undefined
}

export interface Settings {
  readonly table: string
  readonly client: DynamoDBClient | undefined
  readonly config: DynamoDBClientConfig
  readonly maxSkewMs: number
  readonly timeoutMs: number
  readonly accept: readonly DynamodbRisk[]
  readonly clock: Clock
}

const KNOWN = [
  'table',
  'client',
  'config',
  'maxSkewMs',
  'timeoutMs',
  'accept',
  'clock',
] satisfies (keyof DynamodbStoreOptions)[]
const TABLE = /^[a-zA-Z0-9_.-]{3,255}$/
const ARN = /^arn:aws[a-z-]*:dynamodb:[^:]+:\d{12}:table\/[a-zA-Z0-9_.-]{3,255}$/

export function readOptions(given: string | DynamodbStoreOptions): Settings {
  const options = typeof given === 'string' ? { table: given } : given
  onlyKnown(options, KNOWN, 'dynamodbStore')
  const { table, client, config, maxSkewMs, timeoutMs, accept, clock } = options
  if (typeof table !== 'string' || !(TABLE.test(table) || ARN.test(table))) {
    throw invalidIntent(
      `options.table is ${JSON.stringify(table) ?? 'missing'}, which is no name of a DynamoDB table`,
      'give options.table 3 to 255 letters, digits, dots, dashes and underscores, or the ARN of a table',
    )
  }
  return {
    table,
    client,
    config: config ?? {},
    maxSkewMs: duration(maxSkewMs ?? 1_000, 'options.maxSkewMs', 0),
    timeoutMs: duration(timeoutMs ?? 5_000, 'options.timeoutMs', 1),
    accept: accept ?? [],
    clock: clock ?? { now: () => Date.now() },
  }
}

function duration(ms: number, field: string, least: number): number {
  if (Number.isFinite(ms) && ms >= least && ms <= 3_600_000) return ms
  throw invalidIntent(
    `${field} is ${String(ms)}`,
    `give ${field} as milliseconds, from ${least} to 3600000 (an hour)`,
  )
}
