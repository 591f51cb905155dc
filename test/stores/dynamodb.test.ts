/**
 * The DynamoDB store is a store, on DynamoDB Local: an emulator, and a slow one, so calls get more time here. All
 * processes of these tests have one clock, so the bound on its skew is small; what a larger one means is tested in
 * test/dynamodb/clock.test.ts.
 */
import { afterAll, beforeAll, describe, it } from 'vitest'
import { startDynamodb } from '../../scripts/servers/dynamodb.mjs'
import { createTable, dynamodbStore } from '../../src/stores/dynamodb/index.js'
import { testStore } from '../../src/testing/index.js'

describe('DynamoDB store, on an emulator', () => {
  let server: Awaited<ReturnType<typeof startDynamodb>>
  const created = new Set<string>()

  beforeAll(async () => {
    server = await startDynamodb()
    process.env['IBID_TEST_DYNAMODB'] = JSON.stringify(server.config)
  })
  afterAll(async () => await server.stop())

  const suite = testStore(
    async ({ id }) => {
      const options = { table: id, config: server.config, maxSkewMs: 2, timeoutMs: 30_000 }
      if (!created.has(id)) await createTable(options)
      created.add(id)
      return dynamodbStore(options)
    },
    { time: 'process', module: new URL('../fixtures/dynamodb-store.mjs', import.meta.url) },
  )
  for (const { name, run } of suite) it(name, run, 180_000)
})
