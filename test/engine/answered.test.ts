/** Duplicates on their way to the log: counted by claim, whatever object their receipt came as. */
import { expect, test } from 'vitest'
import type { Address } from '../../src/core/receipt.js'
import { bench, INTENT, WHERE } from './bench.js'

const other = {
  key: { ...INTENT, key: 'wf_1:step_2' },
  scope: { ...INTENT, scope: 'tool:ship' },
  tenant: { ...INTENT, tenant: 'umbrella' },
}

test.each([
  ['what the process remembers', {}],
  ['what the store answers', { cache: false as const }],
])(
  '[R50, R51] of %s, those of one claim are one event, and those of each other claim another',
  async (_, options) => {
    const on = bench()
    const ibid = on.open(options)
    const intents = [INTENT, ...Object.values(other)]
    for (const intent of intents) await ibid.once(intent, () => 1)
    for (const [i, intent] of intents.entries()) {
      for (let n = 0; n <= i; n++) await ibid.once(intent, () => 2)
    }
    const counts = async ({ tenant, scope, key }: Address): Promise<unknown[]> => {
      const events = await ibid.history({ tenant, scope, key })
      return events.filter(({ event }) => event === 'dedup_hit').map(({ count }) => count)
    }
    expect(await Promise.all(intents.map(counts))).toEqual([[1], [2], [3], [4]])
  },
)

test('[R50] those of a later life of a receipt are not counted with those of the first', async () => {
  const on = bench()
  const ibid = on.open({ cache: false })
  await ibid.once(INTENT, () => 1, { window: '500ms' })
  await ibid.once(INTENT, () => 2)
  await on.time.pass(600)
  await ibid.once(INTENT, () => 3)
  await ibid.once(INTENT, () => 4)
  await ibid.once(INTENT, () => 5)
  const events = (await ibid.history(WHERE)).filter(({ event }) => event === 'dedup_hit')
  expect(events.map(({ count }) => count)).toEqual([1, 2])
  expect(events[0]?.epoch).toBeLessThan(events[1]?.epoch as number)
})
