/** What check() says of a table, what createTable makes, and what happens when nobody answers. On an emulator. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CreateTableCommand, DynamoDBClient, UpdateTimeToLiveCommand } from '@aws-sdk/client-dynamodb'
import { startDynamodb } from '../../scripts/servers/dynamodb.mjs'
import { createIbid } from '../../src/index.js'
import { replicaFindings } from '../../src/stores/dynamodb/check.js'
import { createTable, dynamodbStore, tableDefinition } from '../../src/stores/dynamodb/index.js'
import { type Emulator, freshTable } from './table.js'

function found(table: object, accept: readonly 'eventual-replicas'[] = []): unknown {
  return replicaFindings(table, { accept }, {}).map(({ level, code }) => [level, code])
}

/** The emulator has no other regions: what the server would say of them is given here. */
describe('DynamoDB store: replicas', () => {
  const Replicas = [{ RegionName: 'eu-west-1' }, { RegionName: 'us-east-1' }]

  it('[R55] refuses replicas that are only eventually consistent, unless the risk is named', () => {
    expect(found({})).toEqual([])
    expect(found({ Replicas })).toEqual([['error', 'EVENTUAL_REPLICAS']])
    expect(found({ Replicas, MultiRegionConsistency: 'EVENTUAL' })).toEqual([['error', 'EVENTUAL_REPLICAS']])
    expect(found({ Replicas }, ['eventual-replicas'])).toEqual([['warning', 'EVENTUAL_REPLICAS']])
    expect(found({ Replicas, MultiRegionConsistency: 'STRONG' })).toEqual([])
  })
})

describe('DynamoDB store: its table, on an emulator', () => {
  let emulator: Emulator
  let client: DynamoDBClient
  beforeAll(async () => {
    emulator = await startDynamodb()
    client = new DynamoDBClient(emulator.config)
  })
  afterAll(async () => {
    client.destroy()
    await emulator.stop()
  })

  async function codes(table: string): Promise<readonly unknown[]> {
    const store = dynamodbStore({ table, client })
    const { findings } = await store.check()
    await store.close()
    return findings.map(({ level, code }) => [level, code])
  }

  it('[R55] finds nothing wrong with a table that createTable made, twice', async () => {
    const options = await freshTable(emulator)
    await createTable(options)
    const store = dynamodbStore({ ...options, client })
    const report = await store.check()
    expect(report.findings).toEqual([])
    expect(report.facts).toMatchObject({ billing: 'PAY_PER_REQUEST', replicas: 0, timeToLive: 'ENABLED' })
    await store.close()
  })

  it('[R55] refuses a table that is missing, and lets no effect run', async () => {
    expect(await codes('not-there')).toEqual([['error', 'NO_TABLE']])
    const ibid = createIbid({ store: dynamodbStore({ table: 'not-there', client }), tenant: 'acme' })
    let effects = 0
    const call = ibid.once({ scope: 's', key: 'k', payload: 1 }, async () => ++effects)
    await expect(call).rejects.toMatchObject({ code: 'UNSAFE_STORE' })
    expect(effects).toBe(0)
    await ibid.close()
  })

  it('[R55] refuses other keys and missing indexes, and warns of a time to live that is off', async () => {
    const table = `wrong-${randomUUID()}`
    const { AttributeDefinitions, KeySchema, GlobalSecondaryIndexes, BillingMode } = tableDefinition(table)
    const [byState, byLog] = GlobalSecondaryIndexes ?? []
    if (!byState || !byLog) throw new Error('the definition has two indexes')
    const used = new Set(['pk', 'byState', 'since', 'log', 'place'])
    await client.send(
      new CreateTableCommand({
        TableName: table,
        BillingMode,
        AttributeDefinitions: AttributeDefinitions?.filter(({ AttributeName }) =>
          used.has(AttributeName ?? ''),
        ),
        KeySchema: KeySchema?.slice(0, 1),
        GlobalSecondaryIndexes: [byState, { ...byLog, Projection: { ProjectionType: 'KEYS_ONLY' } }],
      }),
    )
    expect(await codes(table)).toEqual([
      ['error', 'WRONG_KEYS'],
      ['error', 'NO_INDEX'],
      ['warning', 'NO_TTL'],
    ])
    const TimeToLiveSpecification = { AttributeName: 'until', Enabled: true }
    await client.send(new UpdateTimeToLiveCommand({ TableName: table, TimeToLiveSpecification }))
    expect((await codes(table)).at(-1)).toEqual(['warning', 'NO_TTL'])
  })

  it("leaves a caller's client open, and as it was", async () => {
    const stack = client.middlewareStack.identify()
    const store = dynamodbStore({ ...(await freshTable(emulator)), client })
    await store.check()
    await store.close()
    expect(client.middlewareStack.identify()).toEqual(stack)
    expect(await codes('not-there-either')).toEqual([['error', 'NO_TABLE']])
  })

  it('[R12] rejects in bounded time when nobody answers, and lets no effect run', async () => {
    const gone = await startDynamodb()
    await gone.stop()
    const { endpoint } = gone
    const store = dynamodbStore({
      table: 'nowhere',
      config: { ...emulator.config, endpoint },
      timeoutMs: 1_000,
    })
    const ibid = createIbid({ store, tenant: 'acme' })
    let effects = 0
    const call = ibid.once({ scope: 's', key: 'k', payload: 1 }, async () => ++effects)
    await expect(call).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', retriable: true })
    expect(effects).toBe(0)
    await ibid.close()
  })

  it('names an option that it cannot use', () => {
    for (const [options, field] of [
      [{ table: 'a b' }, 'options.table'],
      [{ table: '' }, 'options.table'],
      [{ table: 'abc', maxSkewMs: -1 }, 'options.maxSkewMs'],
      [{ table: 'abc', timeoutMs: 0 }, 'options.timeoutMs'],
    ] as const) {
      expect(() => dynamodbStore(options)).toThrow(field)
    }
    expect(() => dynamodbStore('arn:aws:dynamodb:eu-west-1:123456789012:table/ibid')).not.toThrow()
  })
})
