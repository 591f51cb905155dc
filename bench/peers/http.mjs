/** Published guards for HTTP, as their documentation says to use them, on the storage in memory that they bring. */
import { createRequire } from 'node:module'
import { Idempotency } from '@node-idempotency/core'
import { MemoryStorageAdapter } from '@node-idempotency/storage-adapter-memory'

const { getSharedIdempotencyService, idempotency } = createRequire(import.meta.url)('express-idempotency')

export const expressIdempotency = () => idempotency()
const asked = ({ headers, url, method, body }) => ({ headers, path: url, method, body })

export const isHit = (request) => getSharedIdempotencyService().isHit(request)

/** It has no plugin for Fastify: its two calls stand in the hooks that are meant for them. */
export async function nodeIdempotency(app) {
  const storage = new MemoryStorageAdapter()
  await storage.connect?.()
  const guard = new Idempotency(storage, { cacheTTLMS: 604_800_000 })
  app.addHook('preHandler', async (request, reply) => {
    const found = await guard.onRequest(asked(request))
    if (!found) return
    request.isHit = true
    return reply.code(201).header('content-type', 'application/json; charset=utf-8').send(found.body)
  })
  app.addHook('onSend', async (request, _reply, payload) => {
    if (!request.isHit) await guard.onResponse(asked(request), { body: payload })
    return payload
  })
}
