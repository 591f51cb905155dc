/** One app of the HTTP benchmark: `node bench/http-app.mjs <app> <folder>`, which sends its port to its parent. */
import { serve } from '@hono/node-server'
import express from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'
import { createIbid } from 'ibid'
import * as onExpress from 'ibid/express'
import * as onFastify from 'ibid/fastify'
import * as onHono from 'ibid/hono'
import { sqliteStore } from 'ibid/sqlite'
import { resultOf } from './workload.mjs'

const [name, folder] = process.argv.slice(2)
const host = '127.0.0.1'
const open = () =>
  createIbid({ store: sqliteStore(`${folder}/${name}.db`), tenant: 'bench', housekeeping: false })
const tell = (port) => process.send(port)

function hono(guard) {
  const app = new Hono()
  if (guard) app.use('/refunds', guard)
  app.post('/refunds', async (c) => c.json(resultOf((await c.req.json()).payment), 201))
  serve({ fetch: app.fetch, port: 0, hostname: host }, ({ port }) => tell(port))
}

async function onFastifyApp(register) {
  const app = fastify()
  await register?.(app)
  app.post('/refunds', (request, reply) => {
    reply.code(201).send(resultOf(request.body.payment))
  })
  await app.listen({ port: 0, host })
  tell(app.server.address().port)
}

function expressApp(parse, guard, isHit = () => false) {
  const app = express()
  app.use(parse)
  if (guard) app.use(guard)
  app.post('/refunds', (request, response) => {
    if (!isHit(request)) response.status(201).json(resultOf(request.body.payment))
  })
  const server = app.listen(0, host, () => tell(server.address().port))
}

const APPS = {
  'hono-bare': () => hono(),
  'hono-ibid': () => hono(onHono.idempotent(open())),
  'fastify-bare': () => onFastifyApp(),
  'fastify-ibid': () => onFastifyApp((app) => app.register(onFastify.idempotent(open()))),
  'fastify-node-idempotency': async () => onFastifyApp((await import('./peers/http.mjs')).nodeIdempotency),
  'express-bare': () => expressApp(express.json()),
  'express-ibid': () =>
    expressApp(express.json({ verify: onExpress.keepBytes }), onExpress.idempotent(open())),
  'express-idempotency': async () => {
    const { expressIdempotency, isHit } = await import('./peers/http.mjs')
    expressApp(express.json(), expressIdempotency(), isHit)
  },
}

await APPS[name]()
