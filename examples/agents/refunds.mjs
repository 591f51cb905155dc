// The tool that the examples share, as you would write yours: what it takes, what it promises, what it does.
import { createIbid } from 'ibid'
import { createBroker, defineTool } from 'ibid/broker'
import { memoryStore } from 'ibid/memory'
import { z } from 'zod'

/** The bank: what really happened. It does a key once, as a good payment API does. */
const bank = []

const refund = defineTool({
  name: 'issue_refund',
  version: '1.0.0',
  effect: 'write-non-idempotent',
  description: 'Gives a customer money back.',
  input: z.object({ payment: z.string(), amount: z.int().positive(), reason: z.string().optional() }),
  identity: { ignore: ['reason'] }, // a model words it anew each time
  window: '7d',
  downstream: { acceptsKey: true, window: '30d' },
  async execute({ payment, amount }, { key }) {
    const done = bank.find((one) => one.key === key) ?? { key, id: `re_${bank.length + 1}`, payment, amount }
    if (!bank.includes(done)) bank.push(done)
    return { id: done.id, amount }
  },
})

export const broker = createBroker({
  ibid: createIbid({ store: memoryStore() }), // in production: sqliteStore, postgresStore, …
  tenant: 'harbor',
  tools: [refund],
})

/** Ends the example: how often money left the bank, and what the model was told. */
export function report(what, shown) {
  console.log(`${what}: ${bank.length} refund${bank.length === 1 ? '' : 's'}`)
  for (const text of shown) console.log(`  the model saw ${text}`)
  if (bank.length !== 1 || new Set(shown).size !== 1) process.exitCode = 1
}
