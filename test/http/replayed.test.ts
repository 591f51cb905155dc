/** A replay has the headers of the first response: as many, of the same values, and no type that nobody gave it. */
import express from 'express'
import fastify from 'fastify'
import type { ServerResponse } from 'node:http'
import { describe, expect, test } from 'vitest'
import { idempotent as onExpress } from '../../src/adapters/express.js'
import { idempotent as onFastify } from '../../src/adapters/fastify.js'
import { idempotent } from '../../src/adapters/node.js'
import type { Ibid } from '../../src/index.js'
import { call } from './client.js'
import { guarded, openIbid } from './fetch.js'
import { listen } from './listen.js'

const options = { headers: ['access-control-expose-headers'] }

type Handle = (response: ServerResponse) => unknown
type Serve = (ibid: Ibid, handle: Handle) => Promise<{ readonly port: number }>

const FRAMEWORKS: Record<string, Serve> = {
  node: (ibid, handle) => listen(idempotent(ibid, options)((_request, response) => handle(response))),
  express: (ibid, handle) => {
    const app = express()
    app.use(onExpress(ibid, options))
    app.post('/refunds', (_request, response) => void handle(response))
    return listen(app)
  },
  fastify: async (ibid, handle) => {
    const app = fastify()
    await app.register(onFastify(ibid, options))
    app.post('/refunds', (_request, reply) => void handle(reply.hijack().raw))
    await app.ready()
    return listen((request, response) => app.routing(request, response))
  },
}

const ON_NODE: Record<string, Handle> = {
  'is empty and has no type': (response) => response.writeHead(201).end(),
  'is a text without a type': (response) => response.end('abc'),
  'is bytes without a type': (response) => response.end(Buffer.from([0xff, 0x01])),
  'has no content': (response) => response.writeHead(204).end(),
  'names a header twice': (response) => response.writeHead(200, ['link', '<a>', 'link', '<b>']).end('x'),
  'has two of a header': (response) => response.setHeader('link', ['<a>', '<b>']).end('x'),
  'has one in the place of two': (response) =>
    response.setHeader('link', ['<a>', '<b>']).writeHead(200, { link: '<c>' }).end('x'),
  'names a header in a value': (response) =>
    response
      .setHeader('access-control-expose-headers', 'location')
      .writeHead(201, { location: '/refunds/1' })
      .end('x'),
}

describe.each(Object.entries(FRAMEWORKS))('on %s', (_name, serve) => {
  test.each(Object.entries(ON_NODE))(
    'a response that %s comes again as it was [R5]',
    async (_how, handle) => {
      const { port } = await serve(openIbid(), handle)
      const ask = { key: '"k1"', path: '/refunds', ms: 3_000 }
      const [first, again] = [await call(port, ask), await call(port, ask)]
      expect([first.replayed, again.replayed]).toEqual([false, true])
      expect([again.status, again.body, kept(again.headers)]).toEqual([
        first.status,
        first.body,
        kept(first.headers),
      ])
    },
  )

  test('both of a header that was named twice are sent, also where others were set before [R5]', async () => {
    const { port } = await serve(openIbid(), (response) =>
      response.setHeader('vary', 'accept').writeHead(200, ['link', '<a>', 'link', '<b>']).end('x'),
    )
    const ask = { key: '"k1"', path: '/refunds', ms: 3_000 }
    const [first, again] = [await call(port, ask), await call(port, ask)]
    const sent = [first, again].map(({ headers }) => [headers['vary'], headers['link']])
    expect(sent).toEqual([
      ['accept', '<a>, <b>'],
      ['accept', '<a>, <b>'],
    ])
  })
})

function kept(headers: Readonly<Record<string, unknown>>): unknown {
  const names = ['content-type', 'link', 'location', 'vary', ...options.headers]
  return names.map((name) => [name, headers[name]])
}

const OVER_FETCH: Record<string, () => Response> = {
  'is empty and has no type': () => new Response(null, { status: 201 }),
  'is a text without a type': () => new Response(Buffer.from('abc')),
  'has a type': () => new Response('abc'),
}

test.each(Object.entries(OVER_FETCH))(
  'over Fetch, a response that %s comes again as it was [R5]',
  async (_how, handle) => {
    const { post } = guarded({}, handle)
    const [first, again] = [await post('k1'), await post('k1')]
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    expect([again.status, await again.text(), again.headers.get('content-type')]).toEqual([
      first.status,
      await first.text(),
      first.headers.get('content-type'),
    ])
  },
)
