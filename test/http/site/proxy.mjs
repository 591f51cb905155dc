/**
 * The site of the table behind the reverse proxy: a server that knows nothing of keys, and in front of it the
 * guards.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { createGuard } from '../../../dist/guards/http/guard.js'
import { originOf } from '../../../dist/server/forward.js'
import { createLog } from '../../../dist/server/log.js'
import { relay } from '../../../dist/server/proxy.js'
import { carryOut, ibid, optionsOf, receiptsOf } from './bank.mjs'

async function answer(request, response) {
  try {
    const sent = await buffer(request)
    const echoed = request.headers['idempotency-replayed']
    const { status, headers, body, pieces } = await carryOut(request.url, sent, echoed)
    response.writeHead(status, headers)
    if (pieces) await pipeline(Readable.from(pieces), response)
    else response.end(body)
  } catch {
    if (response.headersSent) response.destroy()
    else response.writeHead(500).end('failed')
  }
}

const unmodified = createServer((request, response) => void answer(request, response))
unmodified.listen(0, '127.0.0.1')
await once(unmodified, 'listening')

const origin = originOf(`http://127.0.0.1:${unmodified.address().port}`)
const log = createLog('off')
const options = optionsOf((request, name) => request.headers[name])
const guarded = new Map(
  Object.entries(options).map(([path, o]) => [path, relay(origin, createGuard(ibid, o), log)]),
)
const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url, 'http://site')
  const found = guarded.get(pathname)
  if (found) found(request, response)
  else void receiptsOf(searchParams.get('tenant')).then((text) => response.end(text))
})
server.listen(0, '127.0.0.1', () => process.send(server.address().port))
