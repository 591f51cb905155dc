/** The lines of docs/webhook.md, in the frameworks themselves and over real sockets: raw bytes reach the signature. */
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { serve } from '@hono/node-server'
import express from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'
import { NextRequest } from 'next/server.js'
import { afterEach, describe, expect, test, onTestFinished, vi } from 'vitest'
import { nodeHandler, stripe, type Webhook, webhook } from '../../src/guards/webhook/index.js'
import { bench, told } from './bench.js'
import { deliver, stripeVendor } from './vendors.js'

type Mount = (hook: Webhook) => Promise<{ readonly port: number; close(): Promise<unknown> }>

function closing(server: Server) {
  server.closeAllConnections()
  return new Promise((resolve) => server.close(resolve))
}

async function listening(server: Server) {
  if (!server.listening) await new Promise((resolve) => server.once('listening', resolve))
  return { port: (server.address() as AddressInfo).port, close: () => closing(server) }
}

const MOUNTS: Readonly<Record<string, Mount>> = {
  'node:http': (hook) => {
    const server = createServer(nodeHandler(hook))
    return listening(server.listen(0, '127.0.0.1'))
  },
  Hono: (hook) => {
    const app = new Hono()
    app.post('/hooks/stripe', (c) => hook(c.req.raw))
    return listening(serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }) as Server)
  },
  Express: (hook) => {
    const app = express()
    app.post('/hooks/stripe', nodeHandler(hook))
    app.use(express.json())
    return listening(app.listen(0, '127.0.0.1'))
  },
  'Express, raw bytes kept by a parser': (hook) => {
    const app = express()
    app.post('/hooks/stripe', express.raw({ type: () => true, limit: '1mb' }), nodeHandler(hook))
    return listening(app.listen(0, '127.0.0.1'))
  },
  Fastify: async (hook) => {
    const app = fastify()
    const listener = nodeHandler(hook)
    await app.register(async (hooks) => {
      hooks.removeAllContentTypeParsers()
      hooks.addContentTypeParser('*', (_request, _payload, done) => done(null))
      hooks.post('/hooks/stripe', async (request, reply) => {
        reply.hijack()
        listener(request.raw, reply.raw)
      })
    })
    await app.listen({ port: 0, host: '127.0.0.1' })
    return { port: (app.server.address() as AddressInfo).port, close: () => app.close() }
  },
}

const closers: (() => Promise<unknown>)[] = []
afterEach(async () => {
  await Promise.all(closers.splice(0).map((close) => close()))
})

describe.each(Object.entries(MOUNTS))('%s', (_name, mount) => {
  async function open() {
    const { ibid, effects, writes } = bench()
    const hook = webhook(ibid, {
      source: stripe({ secret: stripeVendor.secret }),
      maxBytes: 5_000,
      handle: ({ id }) => void effects.push(id),
    })
    const { port, close } = await mount(hook)
    closers.push(close)
    const send = async (sent: Parameters<typeof deliver>[1]) =>
      told(fetch(await deliver(stripeVendor, { ...sent, url: `http://127.0.0.1:${port}/hooks/stripe` })))
    return { effects, writes, send }
  }

  test('[R41] accepted, deduplicated, and refused when one byte differs', async () => {
    const { effects, writes, send } = await open()
    const body = stripeVendor.body('evt_1', { note: 'naïve ✓  two spaces' })
    expect((await send({ body, tampered: `${body} ` })).status).toBe(401)
    expect(writes()).toBe(0)
    expect(await send({ body })).toMatchObject({ status: 200, body: { outcome: 'handled' } })
    expect(await send({ body })).toMatchObject({ status: 200, body: { outcome: 'duplicate' } })
    expect(effects).toEqual(['evt_1'])
  })

  test('a body over the limit is answered 413', async () => {
    const { writes, send } = await open()
    expect((await send({ body: stripeVendor.body('evt_1', { note: 'x'.repeat(6_000) }) })).status).toBe(413)
    expect(writes()).toBe(0)
  })
})

test('Next: the webhook is the route handler', async () => {
  const { ibid, effects } = bench()
  const POST = webhook(ibid, {
    source: stripe({ secret: stripeVendor.secret }),
    handle: ({ id }) => void effects.push(id),
  })
  expect((await POST(new NextRequest(await deliver(stripeVendor)))).status).toBe(200)
  expect((await POST(new NextRequest(await deliver(stripeVendor)))).headers.get('idempotency-replayed')).toBe(
    'true',
  )
  expect(effects).toEqual(['evt_1'])
})

test('a body parser that was there first is found out, and no event is lost for it', async () => {
  const { ibid, effects, writes } = bench()
  const errors: unknown[] = []
  const hook = webhook(ibid, {
    source: stripe({ secret: stripeVendor.secret }),
    handle: ({ id }) => void effects.push(id),
    onError: (error) => errors.push(error),
  })
  const app = express()
  app.use(express.json())
  app.post('/', nodeHandler(hook))
  const { port, close } = await listening(app.listen(0, '127.0.0.1'))
  closers.push(close)
  const url = `http://127.0.0.1:${port}/`
  expect((await fetch(await deliver(stripeVendor, { url }))).status).toBe(503)
  const used = await deliver(stripeVendor)
  await used.text()
  expect((await hook(used)).status).toBe(503)
  expect(errors).toMatchObject([{ code: 'BODY_ALREADY_READ' }, { code: 'BODY_ALREADY_READ' }])
  expect([effects, writes()]).toEqual([[], 0])
})

test('no timer is left of a body that somebody else has read', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const { ibid } = bench()
  const hook = webhook(ibid, { source: stripe({ secret: stripeVendor.secret }), handle: () => {} })
  let answered: Promise<Response> | undefined
  const incoming = { method: 'POST', url: '/', rawHeaders: [], readableDidRead: true, body: {} }
  const outgoing = { writeHead: () => {}, end: () => {}, destroy: () => {} }
  nodeHandler((request) => (answered = hook(request)))(incoming as never, outgoing as never)
  expect((await answered)?.status).toBe(503)
  expect(vi.getTimerCount()).toBe(0)
})

test('a sender that holds its body back is answered 408, and its connection is closed', async () => {
  const { ibid, writes } = bench()
  const source = stripe({ secret: stripeVendor.secret })
  const hook = webhook(ibid, { source, bodyTimeout: 50, handle: () => undefined })
  const server = createServer(nodeHandler(hook))
  const { port, close } = await listening(server.listen(0, '127.0.0.1'))
  closers.push(close)
  const said = await new Promise<string>((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    let text = ''
    socket.on('error', reject)
    socket.on('data', (piece) => (text += piece.toString()))
    socket.on('close', () => resolve(text))
    socket.write('POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 100\r\n\r\nhalf')
  })
  expect(said).toMatch(/^HTTP\/1\.1 408 /)
  expect(said).toMatch(/^connection: close$/im)
  expect(writes()).toBe(0)
})

test('whatever is not POST is answered 405', async () => {
  const { ibid, writes } = bench()
  const hook = webhook(ibid, { source: stripe({ secret: stripeVendor.secret }), handle: () => undefined })
  const server = createServer(nodeHandler(hook))
  const { port, close } = await listening(server.listen(0, '127.0.0.1'))
  closers.push(close)
  for (const method of ['GET', 'PUT', 'DELETE', 'OPTIONS']) {
    const { status, headers } = await told(fetch(`http://127.0.0.1:${port}/`, { method }))
    expect([status, headers.get('allow')]).toEqual([405, 'POST'])
  }
  expect((await hook(new Request('http://h/'))).status).toBe(405)
  expect(writes()).toBe(0)
})
