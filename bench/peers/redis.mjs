/** Published packages on Redis, as their documentation says to use them, with the workload of all other figures. */
import { makeIdempotent, IdempotencyConfig } from '@aws-lambda-powertools/idempotency'
import { CachePersistenceLayer } from '@aws-lambda-powertools/idempotency/cache'
import { Idempotency } from '@node-idempotency/core'
import { RedisStorageAdapter } from '@node-idempotency/storage-adapter-redis'
import { createClient } from 'redis'
import { newKey, payloadOf, perSecond, resultOf, warmUp } from '../workload.mjs'

const WINDOW_SECONDS = 604_800

export async function nodeIdempotency({ url, count, callers, warmUpMs }) {
  const storage = new RedisStorageAdapter({ url })
  await storage.connect()
  const idempotency = new Idempotency(storage, { cacheTTLMS: WINDOW_SECONDS * 1_000 })
  const one = async () => {
    const key = newKey()
    const request = {
      headers: { 'idempotency-key': key },
      path: '/refunds',
      method: 'POST',
      body: payloadOf(key),
    }
    if (await idempotency.onRequest(request)) throw new Error('a new key was taken for an old one')
    await idempotency.onResponse(request, { body: resultOf(key) })
  }
  await warmUp(warmUpMs, callers, one)
  const rate = await perSecond(count, callers, one)
  await storage.disconnect()
  return rate
}

export async function powertools({ url, count, callers, warmUpMs }) {
  process.env.AWS_LAMBDA_FUNCTION_NAME = 'bench'
  const client = await createClient({ url }).connect()
  const persistenceStore = new CachePersistenceLayer({ client })
  const config = new IdempotencyConfig({ expiresAfterSeconds: WINDOW_SECONDS, eventKeyJmesPath: 'payment' })
  config.registerLambdaContext({ getRemainingTimeInMillis: () => 30_000 })
  const refund = makeIdempotent(async (payload) => resultOf(payload.payment), { persistenceStore, config })
  const one = () => refund(payloadOf(newKey()))
  await warmUp(warmUpMs, callers, one)
  const rate = await perSecond(count, callers, one)
  await client.quit()
  return rate
}
