/** The site of the table on Express 5: JSON is parsed before the guard, everything else by the handler. */
// oxlint-disable oxc/no-async-endpoint-handlers -- this framework takes care of their promises
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import express from 'express'
import { attemptOf, idempotent, keepBytes, verdicts } from 'ibid/express'
import { carryOut, ibid, optionsOf, receiptsOf } from './bank.mjs'

const app = express()
app.use(express.json({ verify: keepBytes, limit: '8mb' }))
for (const [path, options] of Object.entries(optionsOf((request, name) => request.get(name)))) {
  app.use(path, idempotent(ibid, options))
  app.all(path, async (request, response) => {
    const sent = request.rawBody ?? (await buffer(request))
    const echoed = request.get('idempotency-replayed')
    const { status, headers, body, pieces } = await carryOut(request.url, sent, echoed, attemptOf(request))
    response.status(status)
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
    if (pieces) Readable.from(pieces).pipe(response)
    else response.end(body)
  })
}
app.get('/receipts', async (request, response) => response.send(await receiptsOf(request.query.tenant)))
app.use(verdicts())
app.use((error, _request, response, _next) => response.status(error.status ?? 500).send('it failed'))
const server = app.listen(0, '127.0.0.1', () => process.send(server.address().port))
