/** A peer that is Express middleware: a server in this process, and a client that speaks to it. */
import { once } from 'node:events'
import { peer } from '../../../examples/hammer/peers.mjs'

const express = peer('express')

/** `mount(app, handle)` sets the routes up; `handle(request)` runs the effect of the call that is under way. */
export async function overHttp(mount) {
  const app = express()
  app.use(express.json())
  const effects = new Map()
  mount(app, async (request) => await effects.get(request.get('x-call'))())
  // What the default handler prints is not for this table.
  app.use((error, _request, response, _next) => {
    response.status(response.statusCode >= 400 ? response.statusCode : 500).json({ error: error.message })
  })
  const server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  let calls = 0
  return {
    close: () => server.close(),
    async call({ key, payload, tenant, operation }, effect) {
      const id = String(++calls)
      effects.set(id, effect)
      const response = await fetch(`http://127.0.0.1:${server.address().port}/${operation}`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'idempotency-key': key,
          'x-tenant': tenant,
          'x-call': id,
        },
        body: JSON.stringify(payload),
      })
      const body = await response.json()
      if (response.ok) return body.cached === true ? body.data : body
      throw Object.assign(new Error(body.error), { code: String(response.status) })
    },
    isUnderWay: ({ code }) => code === '409',
  }
}
