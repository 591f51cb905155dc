/**
 * Powertools for AWS Lambda: the key by JMESPath, the payload validated, a key required, the time left
 * registered.
 */
import { peer } from '../../../examples/hammer/peers.mjs'

const { makeIdempotent, IdempotencyConfig } = peer('@aws-lambda-powertools/idempotency')

async function openPersistence(url) {
  if (url.startsWith('redis:')) {
    const { CachePersistenceLayer } = peer('@aws-lambda-powertools/idempotency/cache')
    const client = await peer('redis').createClient({ url }).connect()
    return { store: new CachePersistenceLayer({ client }), close: () => client.quit() }
  }
  const { DynamoDBPersistenceLayer } = peer('@aws-lambda-powertools/idempotency/dynamodb')
  const credentials = { accessKeyId: 'emulator', secretAccessKey: 'emulator' }
  const clientConfig = { endpoint: url, region: 'us-east-1', credentials }
  return {
    store: new DynamoDBPersistenceLayer({ tableName: 'idempotency', clientConfig }),
    close: () => undefined,
  }
}

/** On Redis the validation of payloads is left out: with it, no retry is answered at all (see docs/peers.md). */
export async function open({ url, lockMs }) {
  process.env.AWS_LAMBDA_FUNCTION_NAME = 'payments'
  const { store: persistenceStore, close } = await openPersistence(url)
  const config = new IdempotencyConfig({
    eventKeyJmesPath: 'key',
    ...(url.startsWith('redis:') ? {} : { payloadValidationJmesPath: 'payload' }),
    throwOnNoIdempotencyKey: true,
  })
  config.registerLambdaContext({ getRemainingTimeInMillis: () => lockMs })
  return {
    close,
    async call({ key, payload, tenant, operation }, effect) {
      const guarded = makeIdempotent(async () => await effect(), { persistenceStore, config })
      return await guarded({ key, payload, tenant, operation })
    },
    isUnderWay: ({ name }) => name === 'IdempotencyAlreadyInProgressError',
  }
}
