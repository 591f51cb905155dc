// A refund over HTTP with Fastify 5: a plugin guards all routes of the context that registers it.
import fastify from 'fastify'
import { createIbid } from 'ibid'
import { attemptOf, idempotent } from 'ibid/fastify'
import { createFetch } from 'ibid/fetch'
import { sqliteStore } from 'ibid/sqlite'

const ibid = createIbid({ store: sqliteStore('ibid.db'), tenant: 'acme' })
let refunds = 0

const app = fastify()
await app.register(idempotent(ibid, { policy: { window: '7d' } }))
app.post('/refunds', (request, reply) => {
  reply.code(201).send({ refund: ++refunds, amount: request.body.amount, key: attemptOf(request).key })
})

const address = await app.listen({ port: 0 })
const fetch = createFetch()
for (let time = 1; time <= 2; time++) {
  const response = await fetch(`${address}/refunds`, {
    method: 'POST',
    key: 'wf_81:step_3',
    headers: { 'content-type': 'application/json' },
    body: '{"amount":14000}',
  })
  console.log(response.status, await response.text(), response.headers.get('idempotency-replayed') ?? 'first')
}
await app.close()
await ibid.close()
if (refunds !== 1) process.exitCode = 1
