/**
 * express-idempotency: the middleware on the route, `isHit` at the top of the handler; storage in memory, its
 * default.
 */
import { peer } from '../../../examples/hammer/peers.mjs'
import { overHttp } from './over-http.mjs'

const { idempotency, getSharedIdempotencyService } = peer('express-idempotency')

export async function open() {
  return await overHttp((app, handle) => {
    app.post('*', idempotency())
    async function refund(request, response) {
      if (getSharedIdempotencyService().isHit(request)) return
      response.status(201).json(await handle(request))
    }
    // oxlint-disable-next-line oxc/no-async-endpoint-handlers -- the effects here do not fail
    app.post('*', refund)
  })
}
