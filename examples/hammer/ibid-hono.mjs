/** The same refund with ibid/hono on SQLite. node ibid-hono.mjs <port> <folder> */
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { createIbid } from 'ibid'
import { idempotent } from 'ibid/hono'
import { sqliteStore } from 'ibid/sqlite'
import { openRefunds } from './refunds.mjs'

const [, , port, folder] = process.argv
const refunds = openRefunds(folder)
const ibid = createIbid({ store: sqliteStore(`${folder}/ibid.db`) })

const app = new Hono()
app.get('/effects', (c) => c.text(String(refunds.count())))
// Whose key it is comes from whoever authenticated the request; here from a header.
app.use('/refunds', idempotent(ibid, { tenant: (c) => c.req.header('x-tenant'), policy: { lease: '4s' } }))
app.post('/refunds', async (c) => c.json(await refunds.make(await c.req.json()), 201))
serve({ fetch: app.fetch, port: Number(port), hostname: '127.0.0.1' })
