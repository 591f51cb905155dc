// A refund tool with a contract. The step is run again after a crash, the model words its reason anew, then changes
// its mind: one refund, the same answer, and a divergence that is reported and not carried out.
import { createIbid } from 'ibid'
import { createBroker, defineTool } from 'ibid/broker'
import { sqliteStore } from 'ibid/sqlite'

const bank = new Map()

const refund = defineTool({
  name: 'issue_refund',
  version: '2.1.0',
  effect: 'write-non-idempotent',
  input: {
    type: 'object',
    properties: {
      payment: { type: 'string' },
      amount: { type: 'integer', minimum: 1 },
      reason: { type: 'string', non_idempotent: true },
    },
    required: ['payment', 'amount'],
  },
  scope: 'refunds:write',
  window: '7d',
  downstream: { acceptsKey: true, window: '30d' },
  execute: (args, call) => {
    if (!bank.has(call.key)) bank.set(call.key, { id: `re_${bank.size + 1}`, amount: args.amount })
    return bank.get(call.key)
  },
})

const ibid = createIbid({ store: sqliteStore('ibid.db') })
const broker = createBroker({ ibid, tools: [refund] })
const step = { tenant: 'acme', runId: 'wf_81', stepId: 'step_3', scopes: ['refunds:write'] }

const calls = [
  { payment: 'pay_8123', amount: 14_000, reason: 'the parcel was lost' },
  { payment: 'pay_8123', amount: 14_000, reason: 'lost parcel, as the customer says' },
  { payment: 'pay_8123', amount: 15_000, reason: 'with an apology' },
  { payment: 'pay_8123', amount: 'all of it' },
]
for (const args of calls) {
  const observation = await broker.call('issue_refund', args, step)
  console.log(
    observation._idempotency.replay ? 'replayed' : 'answered',
    broker.toModel('issue_refund', observation),
  )
}
await ibid.close()
if (bank.size !== 1) throw new Error(`there are ${bank.size} refunds`)
