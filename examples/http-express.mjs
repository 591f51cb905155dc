// A refund over HTTP with Express 5: the bytes are kept by the JSON parser, the guard stands behind it.
import { once } from 'node:events'
import express from 'express'
import { createIbid } from 'ibid'
import { attemptOf, idempotent, keepBytes, verdicts } from 'ibid/express'
import { createFetch } from 'ibid/fetch'
import { sqliteStore } from 'ibid/sqlite'

const ibid = createIbid({ store: sqliteStore('ibid.db') })
let refunds = 0

const app = express()
app.use(express.json({ verify: keepBytes }))
// Whose key it is comes from whoever authenticated the request; here from a header.
app.use(idempotent(ibid, { tenant: (request) => request.get('x-tenant'), statusPath: '/idempotency' }))
app.post('/refunds', (request, response) => {
  response.status(201).json({ refund: ++refunds, amount: request.body.amount, key: attemptOf(request).key })
})
app.use(verdicts())

const server = app.listen(0)
await once(server, 'listening')
const fetch = createFetch()
for (let time = 1; time <= 2; time++) {
  const response = await fetch(`http://127.0.0.1:${server.address().port}/refunds`, {
    method: 'POST',
    key: 'wf_81:step_3',
    headers: { 'content-type': 'application/json', 'x-tenant': 'acme' },
    body: '{"amount":14000}',
  })
  console.log(response.status, await response.text(), response.headers.get('idempotency-replayed') ?? 'first')
}
server.close()
await ibid.close()
if (refunds !== 1) process.exitCode = 1
