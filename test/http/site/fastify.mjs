/** The site of the table on Fastify 5: a context for each guard. */
// oxlint-disable oxc/no-async-endpoint-handlers -- this framework takes care of their promises
import { Readable } from 'node:stream'
import fastify from 'fastify'
import { attemptOf, idempotent } from 'ibid/fastify'
import { carryOut, ibid, optionsOf, receiptsOf } from './bank.mjs'

const app = fastify({ bodyLimit: 8_000_000 })
app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
app.setErrorHandler((error, _request, reply) => reply.code(error.statusCode ?? 500).send('it failed'))

async function handle(request, reply) {
  const { body: given } = request
  const sent = Buffer.isBuffer(given) ? given : Buffer.from(given === undefined ? '' : JSON.stringify(given))
  const echoed = request.headers['idempotency-replayed']
  const { status, headers, body, pieces } = await carryOut(request.url, sent, echoed, attemptOf(request))
  reply.code(status).headers(headers)
  return reply.send(pieces ? Readable.from(pieces) : body)
}

for (const [path, options] of Object.entries(optionsOf((request, name) => request.headers[name]))) {
  await app.register(async (context) => {
    await context.register(idempotent(ibid, options))
    context.all(path, handle)
  })
}
app.get('/receipts', (request) => receiptsOf(request.query.tenant))
await app.listen({ port: 0, host: '127.0.0.1' })
process.send(app.server.address().port)
