// Stripe tells a shop that an order was paid, and tells it again, and again: its retries, somebody who repeats what
// they recorded, and a forgery. The order is shipped once. The signatures are made by Stripe's own library.
import { createServer } from 'node:http'
import { createIbid } from 'ibid'
import { sqliteStore } from 'ibid/sqlite'
import { nodeHandler, stripe, webhook } from 'ibid/webhook'
import { Stripe } from 'stripe'

const secret = 'whsec_from_the_dashboard'
const shipped = []

// ---- the shop -------------------------------------------------------------------------------------------------

const ibid = createIbid({ store: sqliteStore('ibid.db'), tenant: 'harbor' })
const hook = webhook(ibid, {
  source: stripe({ secret: [secret, 'whsec_the_one_before'] }),
  endpoint: 'orders',
  async handle(event) {
    shipped.push(event.payload.data.object.order)
  },
})
const server = createServer(nodeHandler(hook))
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))

// ---- Stripe, and somebody who is not ----------------------------------------------------------------------------

const payload = JSON.stringify({
  id: 'evt_1PaidOnce',
  type: 'checkout.session.completed',
  data: { object: { order: 'no. 81', amount: 14_000 } },
})

async function deliver(who, body, signedWith, ageSeconds = 0) {
  const timestamp = Math.floor(Date.now() / 1_000) - ageSeconds
  const signature = Stripe.webhooks.generateTestHeaderString({ payload, secret: signedWith, timestamp })
  const answer = await fetch(`http://127.0.0.1:${server.address().port}/hooks/stripe`, {
    method: 'POST',
    headers: { 'stripe-signature': signature },
    body,
  })
  const { outcome, code } = await answer.json()
  console.log(
    `  ${who.padEnd(34)} ${answer.status}  ${(outcome ?? code).padEnd(18)} shipped: ${shipped.length}`,
  )
  return answer.status
}

console.log('\nOne paid order, and everything that arrives for it:\n')
const forged = payload.replace('14000', '1')
const statuses = [
  await deliver('a forgery, one amount changed', forged, secret),
  await deliver('signed by somebody else', payload, 'whsec_guessed'),
  await deliver('Stripe', payload, secret),
  ...(await Promise.all([1, 2, 3].map((n) => deliver(`Stripe, retry ${n}`, payload, secret)))),
  await deliver('Stripe, with the secret before', payload, 'whsec_the_one_before'),
  await deliver('a recording, an hour later', payload, secret, 3_600),
]

const history = await ibid.history({ scope: 'hook:stripe/orders', key: 'evt_1PaidOnce' })
console.log(
  '\nWhat its receipt remembers:',
  history.map(({ event, count }) => `${event} ×${count}`).join(', '),
)
server.close()
server.closeAllConnections()
await ibid.close()

const expected = '401,401,200,200,200,200,200,401'
if (shipped.length !== 1 || statuses.join() !== expected) process.exitCode = 1
console.log(`\nShipped ${shipped.length}×. Do it once; after that, ibid.\n`)
