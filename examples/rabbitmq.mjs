// An order is sent twice, by a producer that was not sure; a consumer of RabbitMQ charges for it once. Another can
// never be charged for, and ends as a dead letter.
// Run it as it is (it starts a node of its own), or against yours: AMQP_URL=amqp://… node examples/rabbitmq.mjs
import { connect } from 'amqplib'
import { createIbid, Rejected } from 'ibid'
import { consume, withMessageKey } from 'ibid/amqp'
import { sqliteStore } from 'ibid/sqlite'
import { startRabbitmq } from '../scripts/servers/rabbitmq.mjs'

const own = process.env.AMQP_URL ? undefined : await startRabbitmq()
const connection = await connect(process.env.AMQP_URL ?? own.url)
const channel = await connection.createChannel()
await channel.assertQueue('orders.dead', { durable: true })
const deadLetter = { deadLetterExchange: '', deadLetterRoutingKey: 'orders.dead' }
await channel.assertQueue('orders', { durable: true, ...deadLetter })
await channel.prefetch(100)

// The producer says which event it is: a second send is then the same message, not another one.
function send(order) {
  const body = Buffer.from(JSON.stringify(order))
  channel.sendToQueue('orders', body, { persistent: true, headers: withMessageKey(order.id) })
}
send({ id: 'order-81', amount: 14_000 })
send({ id: 'order-81', amount: 14_000 })
send({ id: 'order-82', amount: -1 })

const ibid = createIbid({ store: sqliteStore('ibid.db'), tenant: 'acme' })
const charges = []
const verdicts = []
const running = await consume(ibid, channel, {
  queue: 'orders',
  deadLetter: 'dlx',
  handle: async ({ content }, attempt) => {
    const order = JSON.parse(content.toString())
    if (order.amount < 0) throw new Rejected('an order has to cost something', { code: 'BAD_AMOUNT' })
    charges.push({ ...order, idempotencyKey: attempt.key })
    return 'charged'
  },
  onVerdict: (verdict) => verdicts.push(verdict),
})
while (verdicts.filter(({ kind }) => kind !== 'retry').length < 3)
  await new Promise((resolve) => setTimeout(resolve, 20))
await running.stop()

for (const { kind, reason } of verdicts) console.log(`${kind}: ${reason}`)
console.log(`${charges.length} charge`)
if (charges.length !== 1) process.exitCode = 1
await ibid.close()
await connection.close()
await own?.stop()
