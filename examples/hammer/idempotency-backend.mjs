/**
 * idempotency-backend as its README shows it: the middleware before everything, `SaveResponse` in the handler. It
 * keeps what it knows in a JSON file in the working directory. node idempotency-backend.mjs <port> <folder>
 */
import { peer } from './peers.mjs'
import { openRefunds } from './refunds.mjs'

const express = peer('express')
const [, , port, folder] = process.argv
process.chdir(folder)
const { default: IdempotencyExpress } = peer('idempotency-backend/express')
const refunds = openRefunds(folder)

const app = express()
app.use(express.json())
app.get('/effects', (_request, response) => response.send(String(refunds.count())))
app.use(IdempotencyExpress)
// oxlint-disable-next-line oxc/no-async-endpoint-handlers -- it catches what it calls
app.post('/refunds', refund)

async function refund(request, response) {
  try {
    const made = await refunds.make(request.body)
    await request.idempotencySession.SaveResponse(made)
    response.status(201).json(made)
  } catch (error) {
    response.status(502).json({ error: error.message })
  }
}

app.listen(Number(port), '127.0.0.1')
