/** The site of the table on Hono. */
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { attemptOf, idempotent } from 'ibid/hono'
import { carryOut, ibid, optionsOf, receiptsOf } from './bank.mjs'

const app = new Hono()
for (const [path, options] of Object.entries(optionsOf((c, name) => c.req.header(name)))) {
  app.use(path, idempotent(ibid, options))
  app.all(path, async (c) => {
    const sent = new Uint8Array(await c.req.arrayBuffer())
    const { status, headers, body, pieces } = await carryOut(
      c.req.url,
      sent,
      c.req.header('idempotency-replayed'),
      attemptOf(c),
    )
    return new Response(pieces ? ReadableStream.from(pieces) : (body ?? null), { status, headers })
  })
}
app.get('/receipts', async (c) => c.body(await receiptsOf(c.req.query('tenant'))))
app.onError((_error, c) => c.text('it failed', 500))
serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => process.send(port))
