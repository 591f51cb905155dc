/** The type of dynamodb-table.mjs, for the tests that run Powertools. */
import type { DynamodbEmulator } from '../servers/dynamodb.mjs'

export function createTable(emulator: DynamodbEmulator): Promise<void>
