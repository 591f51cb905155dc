/**
 * What the broker costs over a bare `once`: microseconds of CPU per call, on the memory store, so that nothing but code
 * is measured. Both do the same: a new key per call, the same payload, an effect that returns at once.
 */
import { createIbid } from 'ibid'
import { createBroker, defineTool } from 'ibid/broker'
import { memoryStore } from 'ibid/memory'
import { newKey, payloadOf, perSecond, resultOf, SCOPE, TENANT } from './workload.mjs'

const INPUT = {
  type: 'object',
  properties: {
    payment: { type: 'string' },
    amount: { type: 'integer', minimum: 1 },
    currency: { enum: ['INR', 'EUR'] },
    customer: { type: 'object', properties: { id: { type: 'string' }, country: { type: 'string' } } },
    reason: { type: 'string' },
    note: { type: 'string' },
    items: { type: 'integer' },
  },
  required: ['payment', 'amount', 'currency'],
}

const refund = defineTool({
  name: 'issue_refund',
  version: '1.0.0',
  effect: 'write-non-idempotent',
  input: INPUT,
  identity: { ignore: ['reason', 'note'] },
  scope: 'refunds:write',
  window: '7d',
  lease: '5m',
  downstream: { acceptsKey: true, window: '30d' },
  execute: async (args) => resultOf(args.payment),
})
const POLICY = { window: '7d', lease: '5m', recovery: 'retry' }

function open() {
  return createIbid({ store: memoryStore(), tenant: TENANT, housekeeping: false })
}

/** Microseconds of CPU per call of `one`. */
async function cpuOf({ count, callers }, one) {
  const before = process.cpuUsage()
  await perSecond(count, callers, one)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / count
}

async function warm({ callers, warmUp = 20_000, ...settings }, one) {
  await perSecond(warmUp, callers, one)
  return await cpuOf({ callers, ...settings }, one)
}

/** How much more CPU the second takes than the first: in turns, warm, the median of the differences. */
async function added(settings, [bare, guarded]) {
  const differences = []
  for (let round = 0; round < 6; round++) {
    const less = await cpuOf(settings, bare)
    differences.push((await cpuOf(settings, guarded)) - less)
  }
  return differences.slice(1).toSorted((a, b) => a - b)[2]
}

const { identity } = refund

function newActions() {
  const bare = open()
  const broker = createBroker({ ibid: open(), tools: [refund] })
  return [
    () => {
      const key = newKey()
      const payload = payloadOf(key)
      return bare.once({ scope: SCOPE, key, payload, identity }, async () => resultOf(key), POLICY)
    },
    async () => {
      const runId = newKey()
      const context = { tenant: TENANT, runId, stepId: 'refund', scopes: ['refunds:write'] }
      const { ok } = await broker.call('issue_refund', payloadOf(runId), context)
      if (!ok) throw new Error('that was no refund')
    },
  ]
}

function duplicates() {
  const bare = open()
  const broker = createBroker({ ibid: open(), tools: [refund] })
  const context = { tenant: TENANT, runId: 'run', stepId: 'refund', scopes: ['refunds:write'] }
  return [
    () =>
      bare.once(
        { scope: SCOPE, key: 'k', payload: payloadOf('k'), identity },
        async () => resultOf('k'),
        POLICY,
      ),
    () => broker.call('issue_refund', payloadOf('k'), context),
  ]
}

export const bareAction = (settings) => warm(settings, newActions()[0])
export const brokerAction = (settings) => warm(settings, newActions()[1])
export const addedToAction = (settings) => added(settings, newActions())
export const bareDuplicate = (settings) => warm(settings, duplicates()[0])
export const brokerDuplicate = (settings) => warm(settings, duplicates()[1])
export const addedToDuplicate = (settings) => added(settings, duplicates())
