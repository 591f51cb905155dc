/** Responses that somebody else has answered, before the guard could: nothing is added, and the process goes on. */
import express from 'express'
import fastify from 'fastify'
import type { ServerResponse } from 'node:http'
import { describe, expect, test } from 'vitest'
import { idempotent as onExpress } from '../../src/adapters/express.js'
import { idempotent as onFastify } from '../../src/adapters/fastify.js'
import { idempotent } from '../../src/adapters/node.js'
import { whenOpen } from '../../src/guards/http/guard.js'
import type { Ibid } from '../../src/index.js'
import { call } from './client.js'
import { openIbid } from './fetch.js'
import { gate } from './gate.js'
import { listen, unhandled } from './listen.js'

const ask = { key: '"k1"', path: '/refunds', ms: 3_000 }

/** Answers in the place of whoever waits. */
type Limit = (response: ServerResponse) => void
type Handle = (response: ServerResponse) => Promise<unknown>
type Serve = (ibid: Ibid, limit: Limit, handle: Handle) => Promise<{ readonly port: number }>

const FRAMEWORKS: Record<string, Serve> = {
  node: (ibid, limit, handle) => {
    const guarded = idempotent(ibid)((_request, response) => handle(response))
    return listen((request, response) => {
      limit(response)
      guarded(request, response)
    })
  },
  express: (ibid, limit, handle) => {
    const app = express()
    app.use((_request, response, next) => {
      limit(response)
      next()
    })
    app.use(onExpress(ibid))
    app.post('/refunds', (_request, response) => handle(response))
    return listen(app)
  },
  fastify: async (ibid, limit, handle) => {
    const app = fastify()
    app.addHook('onRequest', async (_request, reply) => limit(reply.raw))
    await app.register(onFastify(ibid))
    app.post('/refunds', (_request, reply) => void handle(reply.hijack().raw))
    await app.ready()
    return listen((request, response) => app.routing(request, response))
  },
}

describe.each(Object.entries(FRAMEWORKS))('on %s', (_name, serve) => {
  test.each(['ended', 'begun'])(
    'a duplicate whose answer somebody else has %s: nothing is added [R12]',
    async (how) => {
      const lost = unhandled()
      const [begun, end, waiting] = [gate(), gate(), gate()]
      const limited: ServerResponse[] = []
      const { port } = await serve(
        openIbid(),
        (response) => limited.push(response) === 2 && waiting.open(),
        async (response) => {
          response.write('begun ')
          begun.open()
          await end.opened
          response.end('done')
        },
      )
      const first = call(port, ask)
      await begun.opened
      const second = call(port, ask)
      await waiting.opened
      const late = (limited[1] as ServerResponse).writeHead(503)
      if (how === 'ended') late.end('late')
      else late.write('la')
      end.open()
      expect(await first).toMatchObject({ status: 200, text: 'begun done' })
      expect(await call(port, ask)).toMatchObject({ text: 'begun done', replayed: true })
      if (how === 'begun') late.end('te')
      expect(await second).toMatchObject({ status: 503, text: 'late', replayed: false })
      expect(lost).toEqual([])
    },
  )
})

test('what goes wrong behind the guard is told to the framework, waited for or not', async () => {
  const failure = new RangeError('no')
  const heard: unknown[] = []
  const fail = (): never => {
    throw failure
  }
  whenOpen(undefined, fail, (error) => heard.push(error))
  whenOpen(Promise.resolve(undefined), fail, (error) => heard.push(error))
  await expect.poll(() => heard).toEqual([failure, failure])
})
