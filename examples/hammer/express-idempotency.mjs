/**
 * express-idempotency as its README shows it, on the Express that it was made for: the middleware on the route,
 * `isHit` at the top of the handler, `reportError` when the work failed. Storage in memory, which is its default.
 * node express-idempotency.mjs <port> <folder>
 */
import { peer } from './peers.mjs'
import { openRefunds } from './refunds.mjs'

const express = peer('express')
const { idempotency, getSharedIdempotencyService } = peer('express-idempotency')
const [, , port, folder] = process.argv
const refunds = openRefunds(folder)

const app = express()
app.use(express.json())
app.get('/effects', (_request, response) => response.send(String(refunds.count())))
app.post('*', idempotency())
// oxlint-disable-next-line oxc/no-async-endpoint-handlers -- it catches what it calls
app.post('/refunds', refund)

async function refund(request, response) {
  const service = getSharedIdempotencyService()
  if (service.isHit(request)) return
  try {
    response.status(201).json(await refunds.make(request.body))
  } catch (error) {
    await service.reportError(request)
    response.status(502).json({ error: error.message })
  }
}

app.listen(Number(port), '127.0.0.1')
