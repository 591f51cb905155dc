/** @node-idempotency/core on Redis: `onRequest` before the work, `onResponse` after it, a key required. */
import { peer } from '../../../examples/hammer/peers.mjs'

const { Idempotency } = peer('@node-idempotency/core')
const { RedisStorageAdapter } = peer('@node-idempotency/storage-adapter-redis')

export async function open({ url }) {
  const storage = new RedisStorageAdapter({ url })
  await storage.connect()
  const idempotency = new Idempotency(storage, { enforceIdempotency: true })
  return {
    close: () => storage.disconnect(),
    async call({ key, payload, tenant, operation }, effect) {
      const headers = { 'idempotency-key': key, 'x-tenant': tenant }
      const request = { method: 'POST', path: `/${operation}`, headers, body: payload }
      const known = await idempotency.onRequest(request)
      if (known) return known.body
      const body = await effect()
      await idempotency.onResponse(request, { body, additional: { status: 201 } })
      return body
    },
    isUnderWay: ({ code }) => code === 'REQUEST_IN_PROGRESS',
  }
}
