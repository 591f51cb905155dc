// An order is published twice, by a producer that was not sure; a consumer of JetStream charges for it once.
// Run it as it is (it starts a server of its own), or against yours: NATS_URL=nats://… node examples/nats.mjs
import { AckPolicy, jetstream, jetstreamManager } from '@nats-io/jetstream'
import { connect, headers } from '@nats-io/transport-node'
import { createIbid } from 'ibid'
import { consume, toSubject, withMessageKey } from 'ibid/nats'
import { sqliteStore } from 'ibid/sqlite'
import { startNats } from '../scripts/servers/nats.mjs'

const own = process.env.NATS_URL ? undefined : await startNats()
const connection = await connect({ servers: process.env.NATS_URL ?? own.url })
const js = jetstream(connection)
const jsm = await jetstreamManager(connection)
await jsm.streams.add({ name: 'orders', subjects: ['orders.>'] })
await jsm.streams.add({ name: 'dead', subjects: ['dead.>'] })
await jsm.consumers.add('orders', { durable_name: 'billing', ack_policy: AckPolicy.Explicit })

// The producer says which event it is: a second send is then the same message, not another one.
const order = { id: 'order-81', amount: 14_000 }
for (let sent = 0; sent < 2; sent++) {
  await js.publish('orders.placed', JSON.stringify(order), { headers: withMessageKey(order.id, headers()) })
}

const ibid = createIbid({ store: sqliteStore('ibid.db'), tenant: 'acme' })
const charges = []
const verdicts = []
const running = await consume(ibid, await js.consumers.get('orders', 'billing'), {
  deadLetter: toSubject(js, 'dead.orders', headers),
  handle: async (message, attempt) => {
    charges.push({ ...message.json(), idempotencyKey: attempt.key })
    return 'charged'
  },
  onVerdict: (verdict) => verdicts.push(verdict),
})
while (verdicts.filter(({ kind }) => kind === 'ack').length < 2)
  await new Promise((resolve) => setTimeout(resolve, 20))
await running.stop()

for (const { kind, reason } of verdicts) console.log(`${kind}: ${reason}`)
console.log(`${charges.length} charge`)
if (charges.length !== 1) process.exitCode = 1
await ibid.close()
await connection.close()
await own?.stop()
