/** Defects in how the demo's agent uses the guards, and in how its storm is counted. */
import { inFolder } from './in-folder.mjs'

const at = inFolder('src/cli/demo', 'test/demo')

export const demo = [
  ...at('agent.ts', 'harbor', [
    {
      name: 'the demo has a run for every message and not for every charge',
      find: 'key: order.charge, trigger',
      put: 'key: randomUUID(), trigger',
    },
  ]),
  ...at('refund-tool.ts', 'harbor', [
    {
      name: 'the demo refunds again without asking the ledger',
      find: 'await ledger.find(args.charge, key)',
      put: 'await ledger.find(args.charge, key).then(() => ({ found: false }))',
    },
  ]),
  ...at('outcome.ts', 'outcome', [
    { name: 'the demo counts no duplicate refunds', find: 'refunds > 1', put: 'refunds > 1_000' },
    {
      name: 'the demo takes what was lost for held',
      find: 'each.refunds === 0 && !each.isHeld',
      put: 'each.refunds === 0 && each.isHeld',
    },
  ]),
  ...at('queue.ts', 'queue', [
    {
      name: "the demo's queue delivers once and forgets",
      find: 'visibleAtMs: now + LEASE_MS, delivery',
      put: 'visibleAtMs: now + 1e9, delivery',
    },
  ]),
]
