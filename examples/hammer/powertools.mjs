/**
 * Powertools for AWS Lambda as its documentation shows it for a function: the key by JMESPath, the payload
 * validated, a key required, the time that is left registered. On DynamoDB (an emulator will do) or on Redis.
 * POWERTOOLS_STORE=redis://… or http://… (DynamoDB, with a table `idempotency`), REFUNDS=<folder>
 */
import { peer } from './peers.mjs'
import { openRefunds } from './refunds.mjs'

const { makeIdempotent, IdempotencyConfig } = peer('@aws-lambda-powertools/idempotency')
const refunds = openRefunds(process.env.REFUNDS)
/** A Lambda function with this time-out: after it, another may take over. */
const TIMEOUT_MS = 5_000

export async function openPersistence(url) {
  if (url.startsWith('redis:')) {
    const { CachePersistenceLayer } = peer('@aws-lambda-powertools/idempotency/cache')
    return new CachePersistenceLayer({ client: await peer('redis').createClient({ url }).connect() })
  }
  const { DynamoDBPersistenceLayer } = peer('@aws-lambda-powertools/idempotency/dynamodb')
  const credentials = { accessKeyId: 'emulator', secretAccessKey: 'emulator' }
  const clientConfig = { endpoint: url, region: 'us-east-1', credentials }
  return new DynamoDBPersistenceLayer({ tableName: 'idempotency', clientConfig })
}

const config = new IdempotencyConfig({
  eventKeyJmesPath: 'key',
  payloadValidationJmesPath: 'payload',
  throwOnNoIdempotencyKey: true,
})
config.registerLambdaContext({ getRemainingTimeInMillis: () => TIMEOUT_MS })
const guarded = makeIdempotent(async ({ payload }) => await refunds.make(payload), {
  persistenceStore: await openPersistence(process.env.POWERTOOLS_STORE),
  config,
})

export async function refund(key, payload) {
  return await guarded({ key, payload })
}

export function effects() {
  return refunds.count()
}
