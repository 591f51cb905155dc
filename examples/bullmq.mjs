// A job is added twice, by a producer that was not sure; a worker of BullMQ charges for it once.
// Run it as it is (it starts a Redis of its own), or against yours: REDIS_URL=redis://… node examples/bullmq.mjs
import { Queue, Worker } from 'bullmq'
import { createIbid } from 'ibid'
import { processor, withMessageKey } from 'ibid/bullmq'
import { sqliteStore } from 'ibid/sqlite'
import { startRedis } from '../scripts/servers/redis.mjs'

const own = process.env.REDIS_URL ? undefined : await startRedis()
const { hostname: host, port } = new URL(process.env.REDIS_URL ?? own.url)
const connection = { host, port: Number(port) }
const queue = new Queue('orders', { connection })

// The producer says which event it is: a second job is then the same message, not another one.
const order = { id: 'order-81', amount: 14_000 }
for (let sent = 0; sent < 2; sent++) await queue.add('placed', withMessageKey(order.id, order))

const ibid = createIbid({ store: sqliteStore('ibid.db'), tenant: 'acme' })
const charges = []
const verdicts = []
const billing = processor(ibid, {
  queue: 'orders',
  handle: async ({ data }, attempt) => {
    charges.push({ ...data, idempotencyKey: attempt.key })
    return 'charged'
  },
  onVerdict: (verdict) => verdicts.push(verdict),
})
// The guard counts attempts; a worker that stalls gives its job back as often as it takes.
const worker = new Worker('orders', billing, { connection, maxStalledCount: 1_000 })
while ((await queue.getCompletedCount()) < 2) await new Promise((resolve) => setTimeout(resolve, 20))
await worker.close()

for (const { kind, reason } of verdicts) console.log(`${kind}: ${reason}`)
console.log(`${charges.length} charge`)
if (charges.length !== 1) process.exitCode = 1
await queue.close()
await ibid.close()
await own?.stop()
