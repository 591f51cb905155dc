/** The same refund with ibid/express on SQLite. node ibid-express.mjs <port> <folder> */
import express from 'express'
import { createIbid } from 'ibid'
import { idempotent, keepBytes, verdicts } from 'ibid/express'
import { sqliteStore } from 'ibid/sqlite'
import { openRefunds } from './refunds.mjs'

const [, , port, folder] = process.argv
const refunds = openRefunds(folder)
const ibid = createIbid({ store: sqliteStore(`${folder}/ibid.db`) })

const app = express()
app.use(express.json({ verify: keepBytes }))
app.get('/effects', (_request, response) => void response.send(String(refunds.count())))
// Whose key it is comes from whoever authenticated the request; here from a header.
app.use(idempotent(ibid, { tenant: (request) => request.get('x-tenant'), policy: { lease: '2s' } }))
app.post('/refunds', async (request, response) => {
  response.status(201).json(await refunds.make(request.body))
})
app.use(verdicts())
app.listen(Number(port), '127.0.0.1')
