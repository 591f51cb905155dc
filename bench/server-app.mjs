/**
 * `node bench/server-app.mjs origin` is an API; `… plain <upstream>` a proxy as one writes it with node:http
 * alone.
 */
import { Agent, createServer, request } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { resultOf } from './workload.mjs'

const [name, upstream] = process.argv.slice(2)

async function refund(incoming, outgoing) {
  const { payment } = JSON.parse(await buffer(incoming))
  outgoing.writeHead(201, { 'content-type': 'application/json' }).end(JSON.stringify(resultOf(payment)))
}

const agent = new Agent({ keepAlive: true })
const { hostname, port } = new URL(upstream ?? 'http://none')

function passOn(incoming, outgoing) {
  const { method, url: path, headers } = incoming
  const sending = request({ hostname, port, method, path, headers, agent }, (answer) => {
    outgoing.writeHead(answer.statusCode, answer.headers)
    answer.pipe(outgoing)
  })
  sending.on('error', () => outgoing.destroy())
  incoming.pipe(sending)
}

const server = createServer((incoming, outgoing) =>
  name === 'origin' ? void refund(incoming, outgoing) : passOn(incoming, outgoing),
)
server.listen(0, '127.0.0.1', () => process.send(server.address().port))
