/**
 * The table. One item per receipt and one per audit event, together under the address that they are about. Two
 * sparse indexes: `by-state` finds what is open or has ended, `by-log` puts the events of all addresses in order.
 * A receipt is its own `claimed` event, so that a claim is one write of one item and needs no transaction.
 *
 *   pk                     sk              by-state (state, since)      by-log (log, place)
 *   acme#<digest>          receipt         pending#4, created at        log#4, 001790…  the first claim
 *   acme#<digest>          event#001790…                                log#4, 001790…  every later decision
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { CreateTableCommandInput } from '@aws-sdk/client-dynamodb'
import { storeFailure } from '../../core/errors.js'
import { nameOf } from './errors.js'
import { connect } from './connection.js'
import { type DynamodbStoreOptions, readOptions } from './options.js'

export const BY_STATE = 'by-state'
export const BY_LOG = 'by-log'
export const TTL = 'ttl'

/** A key of an index takes a thousand writes a second; each family of keys is spread over this many. */
export const SHARDS = 16

/** What `createTable` asks for: also the text for whoever writes it down as infrastructure. */
export function tableDefinition(table: string): CreateTableCommandInput {
  return {
    TableName: table,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [
      { AttributeName: 'pk', AttributeType: 'S' },
      { AttributeName: 'sk', AttributeType: 'S' },
      { AttributeName: 'byState', AttributeType: 'S' },
      { AttributeName: 'since', AttributeType: 'N' },
      { AttributeName: 'log', AttributeType: 'S' },
      { AttributeName: 'place', AttributeType: 'S' },
    ],
    KeySchema: [
      { AttributeName: 'pk', KeyType: 'HASH' },
      { AttributeName: 'sk', KeyType: 'RANGE' },
    ],
    GlobalSecondaryIndexes: [
      {
        IndexName: BY_STATE,
        KeySchema: [
          { AttributeName: 'byState', KeyType: 'HASH' },
          { AttributeName: 'since', KeyType: 'RANGE' },
        ],
        Projection: { ProjectionType: 'KEYS_ONLY' },
      },
      {
        IndexName: BY_LOG,
        KeySchema: [
          { AttributeName: 'log', KeyType: 'HASH' },
          { AttributeName: 'place', KeyType: 'RANGE' },
        ],
        Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: ['event'] },
      },
    ],
  }
}

const LONGEST_MS = 120_000

/** Creates the table, on demand, with its indexes and its time to live; leaves one that is there as it is. */
export async function createTable(tableOrOptions: string | DynamodbStoreOptions): Promise<void> {
  const connection = connect(readOptions(tableOrOptions))
  const { table } = connection
  try {
    await connection
      .call(({ sdk, client, options }) =>
        client.send(new sdk.CreateTableCommand(tableDefinition(table)), options),
      )
      .catch((error: unknown) => {
        if (nameOf(error) !== 'ResourceInUseException') throw error
      })
    for (let waitedMs = 0; !(await isActive(table, connection)); waitedMs += 250) {
      if (waitedMs > LONGEST_MS) throw notActive(table)
      await sleep(250)
    }
    const ttl = await connection.call(({ sdk, client, options }) =>
      client.send(new sdk.DescribeTimeToLiveCommand({ TableName: table }), options),
    )
    if (ttl.TimeToLiveDescription?.TimeToLiveStatus !== 'DISABLED') return
    const TimeToLiveSpecification = { AttributeName: TTL, Enabled: true }
    await connection.call(({ sdk, client, options }) =>
      client.send(new sdk.UpdateTimeToLiveCommand({ TableName: table, TimeToLiveSpecification }), options),
    )
  } finally {
    connection.close()
  }
}

async function isActive(table: string, connection: ReturnType<typeof connect>): Promise<boolean> {
  const { Table } = await connection.call(({ sdk, client, options }) =>
    client.send(new sdk.DescribeTableCommand({ TableName: table }), options),
  )
  const indexes = Table?.GlobalSecondaryIndexes ?? []
  return Table?.TableStatus === 'ACTIVE' && indexes.every(({ IndexStatus }) => IndexStatus === 'ACTIVE')
}

function notActive(table: string): Error {
  return storeFailure(
    `table ${table} was asked for, and is not active after ${LONGEST_MS} ms`,
    'look at the table in the AWS console, then call createTable again',
    true,
  )
}
