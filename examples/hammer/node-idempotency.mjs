/**
 * @node-idempotency/core as its README shows it, with a key required: `onRequest` before the work, `onResponse`
 * after it, a failure included. On Redis, so that it outlives a restart. node node-idempotency.mjs <port>
 * <folder> <redis url>
 */
import { peer } from './peers.mjs'
import { openRefunds } from './refunds.mjs'

const express = peer('express')
const { Idempotency, IdempotencyError } = peer('@node-idempotency/core')
const { RedisStorageAdapter } = peer('@node-idempotency/storage-adapter-redis')
const [, , port, folder, url] = process.argv
const refunds = openRefunds(folder)

const storage = new RedisStorageAdapter({ url })
await storage.connect()
const idempotency = new Idempotency(storage, { enforceIdempotency: true })
/**
 * The draft that it follows: 409 while the first is running, 422 for another payload, 400 for a key that is no
 * key.
 */
const STATUS = { REQUEST_IN_PROGRESS: 409, IDEMPOTENCY_FINGERPRINT_MISSMATCH: 422 }

const app = express()
app.use(express.json())
app.get('/effects', (_request, response) => response.send(String(refunds.count())))
// oxlint-disable-next-line oxc/no-async-endpoint-handlers -- it catches what it calls
app.post('/refunds', refund)

async function refund(request, response) {
  const { method, headers, body, path } = request
  const asked = { method, headers, body, path }
  try {
    const known = await idempotency.onRequest(asked)
    if (known) return response.status(known.additional.status).json(known.body ?? known.error)
  } catch (error) {
    const status = error instanceof IdempotencyError ? (STATUS[error.code] ?? 400) : 503
    return response.status(status).json({ error: error.message })
  }
  try {
    const made = await refunds.make(body)
    await idempotency.onResponse(asked, { body: made, additional: { status: 201 } })
    response.status(201).json(made)
  } catch (error) {
    const failure = { error: error.message }
    await idempotency.onResponse(asked, { error: failure, additional: { status: 502 } })
    response.status(502).json(failure)
  }
}

app.listen(Number(port), '127.0.0.1')
