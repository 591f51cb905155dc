/** Scan: pages of receipts in a stable order, each exactly once, whatever happens to the others. */
import type { Receipt, State } from '../../core/receipt.js'
import type { ScanQuery, Store } from '../../store.js'
import { change, draft, put, putAs, SHORT_MS, swapped } from './drafts.js'
import { holds, same } from './expect.js'
import { subject } from './suite.js'

export const scan = subject('scan', {
  'filters by tenant, scope, key and state': async ({ store }) => {
    const states: readonly State[] = ['pending', 'succeeded', 'unknown']
    const all: Receipt[] = []
    for (const tenant of ['a', 'b']) {
      for (const scope of ['s', 't']) {
        for (const state of states) all.push(await putAs(store, state, { tenant, scope, key: `${state}-1` }))
      }
    }
    const queries: readonly Omit<ScanQuery, 'limit'>[] = [
      {},
      { tenant: 'a' },
      { scope: 't' },
      { key: 'unknown-1' },
      { states: ['unknown'] },
      { states: ['pending', 'succeeded'] },
      { tenant: 'b', scope: 's' },
      { tenant: 'b', scope: 's', key: 'pending-1' },
      { tenant: 'b', states: ['succeeded', 'failed'] },
      { tenant: 'a', scope: 's', key: 'pending-1', states: ['unknown'] },
      { tenant: 'c' },
      { tenant: 'A' },
    ]
    for (const query of queries) {
      const expected = all.filter((receipt) => fits(receipt, query))
      const listed = await pages(store, query, 5)
      same(byName(listed), byName(expected), `a scan must list what fits, as it is: ${JSON.stringify(query)}`)
    }
  },

  '[R14] lists what has ended by its own clock': async ({ store, advance }) => {
    const ended = [
      await putAs(store, 'pending', { forMs: SHORT_MS }),
      await putAs(store, 'failed', { forMs: SHORT_MS }),
    ]
    await put(store)
    await putAs(store, 'unknown', { forMs: null })
    await advance(SHORT_MS * 2)
    same(byName(await pages(store, { ended: true }, 10)), byName(ended), 'ended must mean: until has come')
    const [lapsed] = ended
    same(
      await pages(store, { ended: true, states: ['pending'] }, 10),
      [lapsed],
      'ended must go together with the other filters',
    )
    same((await pages(store, { ended: false }, 10)).length, 4, 'ended: false must filter nothing')
  },

  'gives every receipt exactly once, in a stable order': async ({ store }) => {
    for (let i = 0; i < 23; i++) await put(store)
    for (const limit of [1, 5, 23, 100]) {
      const listed = await pages(store, {}, limit)
      same(new Set(listed.map(({ key }) => key)).size, 23, `pages of ${limit} must cover every receipt`)
      same(listed.length, 23, `pages of ${limit} must give each receipt once`)
      const again = await pages(store, {}, 7)
      same(
        again.map(({ key }) => key),
        listed.map(({ key }) => key),
        'the order must not depend on the pages',
      )
    }
  },

  'gives every receipt exactly once while others come, change and go': async ({ store, advance }) => {
    const lasting: Receipt[] = []
    for (let i = 0; i < 30; i++) {
      if (i % 2 === 0) await putAs(store, 'failed', { forMs: SHORT_MS })
      lasting.push(await put(store))
    }
    await advance(SHORT_MS * 2)
    let turned = 0
    const listed = await pages(store, {}, 4, async () => {
      if (turned > 12) return
      const receipt = lasting[(turned++ * 7) % lasting.length] as Receipt
      await store.swap([change(receipt, 'pending')])
      await store.claim([draft(), draft({ tenant: 'zzz' }), draft({ tenant: 'a' })])
      await store.purge(3, 86_400_000)
    })
    const seen = new Map<string, number>()
    for (const { key } of listed) seen.set(key, (seen.get(key) ?? 0) + 1)
    same(
      lasting.map(({ key }) => seen.get(key)),
      lasting.map(() => 1),
      'a receipt that stays must be listed once',
    )
    holds(
      [...seen.values()].every((times) => times === 1),
      'a receipt must not be listed twice',
    )
  },

  'lists what a swap has written': async ({ store }) => {
    const receipt = await put(store)
    await swapped(store, change(receipt, 'succeeded'))
    same(await pages(store, { states: ['pending'] }, 10), [], 'a scan must see a change at once')
    same((await pages(store, { states: ['succeeded'] }, 10)).length, 1, 'a scan must see a change at once')
  },
})

/** Every page, until there is no cursor. `between` runs after each. */
export async function pages(
  store: Store,
  query: Omit<ScanQuery, 'limit' | 'cursor'>,
  limit: number,
  between: () => Promise<unknown> = async () => {},
): Promise<readonly Receipt[]> {
  const listed: Receipt[] = []
  let cursor: string | undefined
  for (let page = 0; page < 1_000; page++) {
    const { receipts, cursor: after } = await store.scan({ ...query, limit, cursor })
    holds(receipts.length <= limit, 'a page must not be longer than its limit')
    listed.push(...receipts)
    if (after === undefined) return listed
    cursor = after
    await between()
  }
  holds(false, 'a scan must come to an end: a thousand pages, and still a cursor')
}

function fits(receipt: Receipt, { tenant, scope, key, states }: Omit<ScanQuery, 'limit'>): boolean {
  return (
    (tenant === undefined || receipt.tenant === tenant) &&
    (scope === undefined || receipt.scope === scope) &&
    (key === undefined || receipt.key === key) &&
    (states === undefined || states.includes(receipt.state))
  )
}

function byName(receipts: readonly Receipt[]): readonly Receipt[] {
  return receipts.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
}
