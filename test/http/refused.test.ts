/** What Node refuses to send: the handler hears of it as it would without the guard, and no other request suffers. */
import express, { type ErrorRequestHandler } from 'express'
import fastify from 'fastify'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { describe, expect, test } from 'vitest'
import { idempotent as onExpress } from '../../src/adapters/express.js'
import { idempotent as onFastify } from '../../src/adapters/fastify.js'
import { idempotent } from '../../src/adapters/node.js'
import { call } from './client.js'
import { openIbid } from './fetch.js'
import { listen } from './listen.js'

type Bad = (response: ServerResponse) => unknown

const NAME = 'Zażółć ✓'
/** So that nothing has to be waited for where a response is never sent. */
const BRIEF = { policy: { timeout: '2s' } } as const
const ask = { key: '"k1"', path: '/refunds', ms: 1_500 }
const where = { scope: 'http:POST /refunds', key: 'k1' }

const REFUSED: readonly (readonly [what: string, code: string, bad: Bad])[] = [
  ['the value of a header', 'ERR_INVALID_CHAR', (to) => to.writeHead(200, { 'x-name': NAME })],
  ['one of its values', 'ERR_INVALID_CHAR', (to) => to.writeHead(200, { 'x-name': ['a', NAME] })],
  ['a header in a list', 'ERR_INVALID_CHAR', (to) => to.writeHead(200, 'fine', ['x-name', NAME])],
  ['the name of a header', 'ERR_INVALID_HTTP_TOKEN', (to) => to.writeHead(200, { 'x name': 'a' })],
  ['a header of nothing', 'ERR_HTTP_INVALID_HEADER_VALUE', (to) => to.writeHead(200, { a: undefined })],
  ['half a header', 'ERR_INVALID_ARG_VALUE', (to) => to.writeHead(200, ['a', 'b', 'c'])],
  ['a reason', 'ERR_INVALID_CHAR', (to) => to.writeHead(200, NAME)],
  ['a reason, ended', 'ERR_INVALID_CHAR', (to) => Object.assign(to, { statusMessage: NAME }).end('hi')],
  ['a status', 'ERR_HTTP_INVALID_STATUS_CODE', (to) => to.writeHead(1000)],
  ['a status, ended', 'ERR_HTTP_INVALID_STATUS_CODE', (to) => withStatus(to).end('hi')],
  ['a status, streamed', 'ERR_HTTP_INVALID_STATUS_CODE', (to) => withStatus(to).write('hi')],
  ['a status, flushed', 'ERR_HTTP_INVALID_STATUS_CODE', (to) => withStatus(to).flushHeaders()],
  ['a last chunk', 'ERR_INVALID_ARG_TYPE', (to) => to.end(123)],
  ['a chunk', 'ERR_INVALID_ARG_TYPE', (to) => to.write(123)],
  ['a chunk of null', 'ERR_STREAM_NULL_VALUES', (to) => to.write(null)],
  ['an encoding', 'ERR_UNKNOWN_ENCODING', (to) => to.end('hi', 'utf9' as 'utf8')],
]

const sayCode: ErrorRequestHandler = (error: { readonly code: string }, _request, response, _next) =>
  void response.status(500).send(error.code)

function withStatus(response: ServerResponse): ServerResponse {
  response.statusCode = 1000
  return response
}

/** Does what Node refuses, keeps the code, and answers 500 in its place. */
function trying(bad: Bad, heard: unknown[]): (request: IncomingMessage, response: ServerResponse) => void {
  return (_request, response) => {
    try {
      bad(response)
    } catch (error) {
      heard.push((error as { readonly code?: unknown }).code)
      if (response.headersSent) return void response.destroy()
      response.statusCode = 500
      response.statusMessage = 'Refused'
      response.end('refused')
    }
  }
}

describe('refused where the handler calls, as without the guard', () => {
  test.each(REFUSED)('%s: %s [R9]', async (_what, code, bad) => {
    const [heard, bare]: [unknown[], unknown[]] = [[], []]
    const ibid = openIbid()
    const { port } = await listen(idempotent(ibid, BRIEF)(trying(bad, heard)))
    const got = await call(port, ask)
    expect([heard, got.status, got.text]).toEqual([[code], 500, 'refused'])
    expect(await ibid.get(where)).toMatchObject({ state: 'unknown' })
    const unguarded = await listen(trying(bad, bare))
    await call(unguarded.port, ask).catch(() => {})
    expect(bare).toEqual(heard)
  })
})

test.each<[string, Bad]>([
  ['length', (to) => to.writeHead(200, 'Fine', { 'content-length': 3 }).end(123)],
  ['reason', (to) => Object.assign(to, { statusMessage: NAME }).end('hi')],
])('a handler that lets it out answers 500, whole, whatever %s it had announced [R9]', async (_what, bad) => {
  const { port } = await listen(idempotent(openIbid(), BRIEF)((_request, response) => bad(response)))
  const got = await call(port, ask)
  expect([got.status, JSON.parse(got.text)]).toMatchObject([500, { title: 'Internal Server Error' }])
})

test('what is falsy ends a response without a body, and a status may come as text', async () => {
  const ibid = openIbid()
  const { port } = await listen(
    idempotent(ibid, BRIEF)((_request, response) => response.writeHead('201' as never).end(0)),
  )
  const got = await call(port, ask)
  expect([got.status, got.text]).toEqual([201, ''])
  expect(await call(port, ask)).toMatchObject({ status: 201, text: '', replayed: true })
})

test('a header that Fastify keeps until the end: its error handler answers [R9]', async () => {
  const ibid = openIbid()
  const app = fastify()
  await app.register(onFastify(ibid, BRIEF))
  app.post('/refunds', (_request, reply) => reply.header('x-name', NAME).send({ refund: 1 }))
  await app.ready()
  const { port } = await listen((request, response) => app.routing(request, response))
  const got = await call(port, ask)
  expect([got.status, JSON.parse(got.text)]).toMatchObject([500, { code: 'ERR_INVALID_CHAR' }])
  expect(await ibid.get(where)).toMatchObject({ state: 'unknown' })
})

test('a head that Express hands to Node: its error handler answers [R9]', async () => {
  const app = express()
  app.use(onExpress(openIbid(), BRIEF))
  app.post('/refunds', (_request, response) => void response.writeHead(200, { 'x-name': NAME }).end('hi'))
  app.use(sayCode)
  const { port } = await listen(app)
  const got = await call(port, ask)
  expect([got.status, got.text]).toEqual([500, 'ERR_INVALID_CHAR'])
})

test('what fails only when it is sent breaks off that one response, and its receipt stands [R61]', async () => {
  const guard = idempotent(openIbid(), BRIEF)
  const { port, server } = await listen(
    guard((_request, response) => {
      response.strictContentLength = true
      response.setHeader('content-length', 5)
      response.end('hi')
    }),
  )
  const heard: unknown[] = []
  server.on('clientError', (error) => heard.push((error as NodeJS.ErrnoException).code))
  await expect(call(port, ask)).rejects.toMatchObject({ code: 'ECONNRESET' })
  expect(heard).toEqual(['ERR_HTTP_CONTENT_LENGTH_MISMATCH'])
  expect(await call(port, ask)).toMatchObject({ status: 200, text: 'hi', replayed: true })
})
