// A refund over HTTP with Hono: the client sends it twice, and the money moves once.
import { once } from 'node:events'
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { createIbid } from 'ibid'
import { createFetch } from 'ibid/fetch'
import { attemptOf, idempotent } from 'ibid/hono'
import { sqliteStore } from 'ibid/sqlite'

const ibid = createIbid({ store: sqliteStore('ibid.db'), tenant: 'acme' })
let refunds = 0

const app = new Hono()
app.use('/refunds', idempotent(ibid))
app.post('/refunds', async (c) => {
  const { amount } = await c.req.json()
  return c.json({ refund: ++refunds, amount, key: attemptOf(c).key }, 201)
})

const server = serve({ fetch: app.fetch, port: 0 })
await once(server, 'listening')
const fetch = createFetch()
for (let time = 1; time <= 2; time++) {
  const response = await fetch(`http://127.0.0.1:${server.address().port}/refunds`, {
    method: 'POST',
    key: 'wf_81:step_3',
    headers: { 'content-type': 'application/json' },
    body: '{"amount":14000}',
  })
  console.log(response.status, await response.text(), response.headers.get('idempotency-replayed') ?? 'first')
}
server.close()
await ibid.close()
if (refunds !== 1) process.exitCode = 1
