/**
 * `dynamodbStore`: receipts in an Amazon DynamoDB table. A claim is one conditional write; every later change is one
 * transaction with its audit event. All reads that decide anything are consistent. DynamoDB has no clock to write
 * by: clock.ts has the rule that stands in for one. No transactions that an effect could share.
 */
import type { Store } from '../../store.js'
import { audit } from './audit.js'
import { check } from './check.js'
import { claim } from './claim.js'
import { connect } from './connection.js'
import { each } from './each.js'
import { get } from './get.js'
import { type DynamodbStoreOptions, readOptions } from './options.js'
import { forgetOnly, purge } from './purge.js'
import { homeOf, MAX_OUTCOME } from './receipt.js'
import { record } from './record.js'
import { scan } from './scan.js'
import { swap } from './swap.js'

export type { Clock } from './clock.js'
export type { DynamodbRisk, DynamodbStoreOptions } from './options.js'
export { createTable, tableDefinition } from './schema.js'

export function dynamodbStore(tableOrOptions: string | DynamodbStoreOptions): Store {
  const connection = connect(readOptions(tableOrOptions))
  return {
    name: 'dynamodb',
    // Every receipt is a request of its own. Small batches, so that a slow one holds up few others.
    maxBatch: 4,
    lanes: 32,
    maxOutcome: MAX_OUTCOME,

    claim: async (wanted) =>
      await each(
        wanted,
        (draft) => homeOf(draft).pk,
        (draft) => claim(connection, draft),
      ),
    swap: async (changes) =>
      await each(
        changes,
        ({ next }) => homeOf(next).pk,
        (change) => swap(connection, change),
      ),
    get: async (addresses) => await get(connection, addresses),
    scan: async (query) => await scan(connection, query),
    purge: async (limit, auditMs) => await purge(connection, limit, auditMs),
    forget: async (claims) => await forgetOnly(connection, claims),
    record: async (events) => await record(connection, events),
    audit: async (query) => await audit(connection, query),
    check: async () => await check(connection),
    close: async () => connection.close(),
  }
}
