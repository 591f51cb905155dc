// An order is sent twice, by a producer that was not sure; a consumer of SQS charges for it once.
// Run it as it is, with a stand-in for the server, or against Amazon: SQS_QUEUE_URL=https://sqs.… node examples/sqs.mjs
import { SQS } from '@aws-sdk/client-sqs'
import { createIbid } from 'ibid'
import { sqliteStore } from 'ibid/sqlite'
import { consume, withMessageKey } from 'ibid/sqs'
import { startSqsStandIn } from '../test/fixtures/brokers/sqs-stand-in.mjs'

const own = process.env.SQS_QUEUE_URL ? undefined : await startSqsStandIn()
const credentials = { accessKeyId: 'none', secretAccessKey: 'none' }
const sqs = new SQS(own ? { endpoint: own.url, region: 'eu-west-1', credentials } : {})
const queueUrl = process.env.SQS_QUEUE_URL ?? (await sqs.createQueue({ QueueName: 'orders' })).QueueUrl
const deadLetter = process.env.SQS_DEAD_URL ?? (await sqs.createQueue({ QueueName: 'orders-dead' })).QueueUrl

// The producer says which event it is: a second send is then the same message, not another one.
const order = { id: 'order-81', amount: 14_000 }
for (let sent = 0; sent < 2; sent++) {
  const MessageAttributes = withMessageKey(order.id)
  await sqs.sendMessage({ QueueUrl: queueUrl, MessageBody: JSON.stringify(order), MessageAttributes })
}

const ibid = createIbid({ store: sqliteStore('ibid.db'), tenant: 'acme' })
const charges = []
const verdicts = []
const running = await consume(ibid, sqs, {
  queueUrl,
  deadLetter,
  handle: async ({ Body }, attempt) => {
    charges.push({ ...JSON.parse(Body), idempotencyKey: attempt.key })
    return 'charged'
  },
  onVerdict: (verdict) => verdicts.push(verdict),
})
while (verdicts.filter(({ kind }) => kind === 'ack').length < 2) {
  await new Promise((resolve) => setTimeout(resolve, 20))
}
await running.stop()

for (const { kind, reason } of verdicts) console.log(`${kind}: ${reason}`)
console.log(`${charges.length} charge`)
if (charges.length !== 1) process.exitCode = 1
await ibid.close()
await own?.stop()
