/** check: is the table the one that the store needs, and is this computer's clock near enough to the server's? */
import { setTimeout as sleep } from 'node:timers/promises'
import type { TableDescription } from '@aws-sdk/client-dynamodb'
import type { StoreFinding, StoreReport } from '../../store.js'
import { isBeyond, isUndecided } from './clock.js'
import type { Connection, Line } from './connection.js'
import { nameOf, skewed } from './errors.js'
import { tableDefinition, TTL } from './schema.js'

type Facts = Record<string, string | number | boolean>

export async function check(connection: Connection): Promise<StoreReport> {
  const facts: Facts = { table: connection.table, maxSkewMs: connection.maxSkewMs }
  const table = await describe(connection)
  const findings = table
    ? [
        ...schemaFindings(table, connection.table),
        ...replicaFindings(table, connection, facts),
        ...(await expiryFindings(connection, facts)),
      ]
    : [missing(connection.table)]
  if (table) {
    facts['billing'] = table.BillingModeSummary?.BillingMode ?? 'PROVISIONED'
    facts['deletionProtection'] = table.DeletionProtectionEnabled ?? false
    await backupFacts(connection, facts)
  }
  return { store: 'dynamodb', findings: [...findings, ...(await clockFindings(connection, facts))], facts }
}

async function describe({ call, table }: Connection): Promise<TableDescription | undefined> {
  try {
    const { Table } = await call(
      ({ sdk, client, options }) => client.send(new sdk.DescribeTableCommand({ TableName: table }), options),
      'unguarded',
    )
    return Table
  } catch (error) {
    if (nameOf(error) === 'ResourceNotFoundException') return undefined
    throw error
  }
}

function missing(table: string): StoreFinding {
  return {
    level: 'error',
    code: 'NO_TABLE',
    message: `there is no table ${table}`,
    remedy: `create it: createTable('${table}') from 'ibid/dynamodb' does, or take tableDefinition('${table}')`,
  }
}

function schemaFindings(found: TableDescription, table: string): readonly StoreFinding[] {
  const wanted = tableDefinition(table)
  const remedy = `create a table as tableDefinition('${table}') says; a table cannot be given other keys later`
  const findings: StoreFinding[] = []
  if (found.TableStatus !== 'ACTIVE' && found.TableStatus !== 'UPDATING') {
    const message = `table ${table} is ${found.TableStatus ?? 'in no state'}`
    findings.push({ level: 'error', code: 'NOT_ACTIVE', message, remedy: 'wait until the table is ACTIVE' })
  }
  if (shape(found) !== shape(wanted)) {
    const message = `table ${table} has other keys than the store needs`
    findings.push({ level: 'error', code: 'WRONG_KEYS', message, remedy })
  }
  for (const index of wanted.GlobalSecondaryIndexes ?? []) {
    const there = found.GlobalSecondaryIndexes?.find(({ IndexName }) => IndexName === index.IndexName)
    if (there && shape(there) === shape(index) && there.IndexStatus === 'ACTIVE') continue
    const message = `table ${table} has no usable index ${index.IndexName}: it is missing, other or not active`
    findings.push({ level: 'error', code: 'NO_INDEX', message, remedy })
  }
  return findings
}

interface Shaped {
  readonly KeySchema?: TableDescription['KeySchema']
  readonly Projection?:
    | { ProjectionType?: string | undefined; NonKeyAttributes?: string[] | undefined }
    | undefined
}

function shape({ KeySchema, Projection }: Shaped): string {
  const keys = (KeySchema ?? []).map(({ AttributeName, KeyType }) => `${KeyType} ${AttributeName}`).toSorted()
  const projected = Projection?.ProjectionType === 'ALL' ? ['ALL'] : (Projection?.NonKeyAttributes ?? [])
  return JSON.stringify([keys, projected])
}

export function replicaFindings(
  { Replicas, MultiRegionConsistency }: TableDescription,
  { accept }: Pick<Connection, 'accept'>,
  facts: Facts,
): readonly StoreFinding[] {
  facts['replicas'] = Replicas?.length ?? 0
  if (!Replicas?.length || MultiRegionConsistency === 'STRONG') return []
  return [
    {
      level: accept.includes('eventual-replicas') ? 'warning' : 'error',
      code: 'EVENTUAL_REPLICAS',
      message:
        'the table has replicas in other regions that are only eventually consistent: the same key, used in two regions at once, is claimed in both',
      remedy:
        "use a table in one region, or a global table with strong consistency; or send each key to one region only, and accept: ['eventual-replicas']",
    },
  ]
}

async function expiryFindings(connection: Connection, facts: Facts): Promise<readonly StoreFinding[]> {
  const ttl = await readable(connection, async ({ sdk, client, options }) => {
    const command = new sdk.DescribeTimeToLiveCommand({ TableName: connection.table })
    const { TimeToLiveDescription } = await client.send(command, options)
    return TimeToLiveDescription
  })
  facts['timeToLive'] = ttl?.TimeToLiveStatus ?? 'unknown'
  const enabled = ttl?.TimeToLiveStatus === 'ENABLED' || ttl?.TimeToLiveStatus === 'ENABLING'
  if (!ttl || (enabled && ttl.AttributeName === TTL)) return []
  const message = enabled
    ? `the table's time to live looks at the attribute ${ttl.AttributeName}, not at ${TTL}`
    : "the table's time to live is off: receipts that nobody purges stay for ever"
  const remedy = `turn time to live on for the attribute ${TTL}, or keep sweeping`
  return [{ level: 'warning', code: 'NO_TTL', message, remedy }]
}

async function backupFacts(connection: Connection, facts: Facts): Promise<void> {
  const backups = await readable(connection, async ({ sdk, client, options }) => {
    const command = new sdk.DescribeContinuousBackupsCommand({ TableName: connection.table })
    return (await client.send(command, options)).ContinuousBackupsDescription?.PointInTimeRecoveryDescription
  })
  facts['pointInTimeRecovery'] = backups?.PointInTimeRecoveryStatus ?? 'unknown'
}

/** Undefined: the caller has no right to know, or this is an emulator that does not. Worth a fact, not a failure. */
async function readable<T>({ call }: Connection, ask: (line: Line) => Promise<T>): Promise<T | undefined> {
  return await call(ask, 'unguarded').catch(() => undefined)
}

const MOST_LOOKS = 12
const LOOK_EVERY_MS = 100

async function clockFindings(connection: Connection, facts: Facts): Promise<readonly StoreFinding[]> {
  const { watch, maxSkewMs } = connection
  let skew = watch.measured()
  for (let look = 0; skew && isUndecided(skew, maxSkewMs) && look < MOST_LOOKS; look++) {
    await sleep(LOOK_EVERY_MS)
    await describe(connection)
    skew = watch.measured()
  }
  if (!skew) {
    const message =
      "the server's answers have no Date header: how far this computer's clock is off is not known"
    return [
      { level: 'warning', code: 'CLOCK_UNKNOWN', message, remedy: 'see that a proxy leaves the header in' },
    ]
  }
  facts['clockAheadMs'] = Math.round((skew.atLeastMs + skew.atMostMs) / 2)
  facts['clockAheadKnownToMs'] = Math.ceil((skew.atMostMs - skew.atLeastMs) / 2)
  if (!isBeyond(skew, maxSkewMs)) return []
  const { message, action } = skewed(skew, maxSkewMs)
  return [{ level: 'error', code: 'CLOCK_SKEW', message, remedy: action }]
}
