// A route handler of Next.js. In an app, this is app/refunds/route.js, and the last part is done by Next.
import { NextRequest } from 'next/server.js'
import { createIbid } from 'ibid'
import { attemptOf, idempotent } from 'ibid/next'
import { sqliteStore } from 'ibid/sqlite'

const ibid = createIbid({ store: sqliteStore('ibid.db'), tenant: 'acme' })
let refunds = 0

const guard = idempotent(ibid, { required: true })

export const POST = guard(async (request) => {
  const { amount } = await request.json()
  return Response.json({ refund: ++refunds, amount, key: attemptOf(request).key }, { status: 201 })
})

for (let time = 1; time <= 2; time++) {
  const headers = { 'idempotency-key': '"wf_81:step_3"', 'content-type': 'application/json' }
  const url = 'http://localhost/refunds'
  const response = await POST(new NextRequest(url, { method: 'POST', headers, body: '{"amount":14000}' }), {})
  console.log(response.status, await response.text(), response.headers.get('idempotency-replayed') ?? 'first')
}
await ibid.close()
if (refunds !== 1) process.exitCode = 1
