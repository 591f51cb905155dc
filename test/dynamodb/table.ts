/** A table of its own for each test, on the emulator that the file has started. */
import type { DynamodbEmulator } from '../../scripts/servers/dynamodb.mjs'
import { createTable, type DynamodbStoreOptions } from '../../src/stores/dynamodb/index.js'

export type Emulator = DynamodbEmulator

let made = 0

/** Options of a store on a fresh table. */
export async function freshTable({ config }: Emulator): Promise<DynamodbStoreOptions> {
  const options = { table: `test-${process.pid}-${++made}`, config, timeoutMs: 30_000 }
  await createTable(options)
  return options
}
