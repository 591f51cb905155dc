/** The site of the table on plain node:http. */
import { createServer } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { buffer } from 'node:stream/consumers'
import { attemptOf, idempotent } from 'ibid/node'
import { carryOut, ibid, optionsOf, receiptsOf } from './bank.mjs'

async function handle(request, response) {
  const sent = await buffer(request)
  const echoed = request.headers['idempotency-replayed']
  const { status, headers, body, pieces } = await carryOut(request.url, sent, echoed, attemptOf(request))
  response.writeHead(status, headers)
  if (pieces) await pipeline(Readable.from(pieces), response)
  else response.end(body)
}

const options = optionsOf((request, name) => request.headers[name])
const guarded = new Map(Object.entries(options).map(([path, o]) => [path, idempotent(ibid, o)(handle)]))
const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url, 'http://site')
  const found = guarded.get(pathname)
  if (found) found(request, response)
  else void receiptsOf(searchParams.get('tenant')).then((text) => response.end(text))
})
server.listen(0, '127.0.0.1', () => process.send(server.address().port))
