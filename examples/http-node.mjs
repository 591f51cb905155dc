// A refund over plain node:http, and a client whose first answer gets lost on the way.
import { once } from 'node:events'
import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import { createIbid } from 'ibid'
import { createFetch } from 'ibid/fetch'
import { attemptOf, idempotent } from 'ibid/node'
import { sqliteStore } from 'ibid/sqlite'

const ibid = createIbid({ store: sqliteStore('ibid.db'), tenant: 'acme' })
let refunds = 0

const guard = idempotent(ibid)
const server = createServer(
  guard(async (request, response) => {
    const { amount } = await json(request)
    const refund = { refund: ++refunds, amount, key: attemptOf(request).key }
    request.socket.destroy() // the network fails after the money has moved
    response.writeHead(201, { 'content-type': 'application/json' }).end(JSON.stringify(refund))
  }),
)

server.listen(0)
await once(server, 'listening')
const fetch = createFetch()
const response = await fetch(`http://127.0.0.1:${server.address().port}/refunds`, {
  method: 'POST',
  key: 'wf_81:step_3',
  body: '{"amount":14000}',
})
console.log(response.status, await response.text(), response.headers.get('idempotency-replayed') ?? 'first')
server.close()
await ibid.close()
if (refunds !== 1) process.exitCode = 1
