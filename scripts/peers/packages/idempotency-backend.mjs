/** idempotency-backend: the middleware before everything, `SaveResponse` in the handler; a JSON file, its default. */
import { peer } from '../../../examples/hammer/peers.mjs'
import { overHttp } from './over-http.mjs'

export async function open({ folder }) {
  process.chdir(folder)
  const { default: IdempotencyExpress } = peer('idempotency-backend/express')
  return await overHttp((app, handle) => {
    app.use(IdempotencyExpress)
    async function refund(request, response) {
      const made = await handle(request)
      await request.idempotencySession.SaveResponse(made)
      response.status(201).json(made)
    }
    // oxlint-disable-next-line oxc/no-async-endpoint-handlers -- the effects here do not fail
    app.post('*', refund)
  })
}
