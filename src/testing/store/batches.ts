/** The log of batches: it must not show that what it tells of was asked for together. */
import type { AuditEvent } from '../../core/audit.js'
import type { Draft, Receipt } from '../../core/receipt.js'
import type { Store } from '../../store.js'
import { eventFor, events, lookBack } from './audit.js'
import { addressOf } from './claim.js'
import { change, draft, put, SHORT_MS } from './drafts.js'
import { same } from './expect.js'
import { purgeAll } from './purge.js'
import { subject } from './suite.js'

export const batches = subject('batches in the log', {
  '[R50] notes each that was done, and no other': async ({ store }) => {
    const taken = await put(store, { tenant: 'a' })
    const wanted = [
      draft({ tenant: 'a', fingerprint: '' }),
      draft({ ...addressOf(taken), fingerprint: 'other' }),
      draft({ tenant: 'a', scope: 'other' }),
      draft({ tenant: 'b', key: '{"odd", \\key}, NULL' }),
      ...many(15, { tenant: 'c' }),
    ]
    await store.claim(wanted)
    const { receipts } = await store.get(wanted.filter(({ fingerprint }) => fingerprint !== 'other'))
    const claimed = receipts as Receipt[]
    same(
      inOrder(await events(store, {})),
      inOrder([taken, ...claimed].map((receipt) => eventFor(receipt, { event: 'claimed' }))),
      'of a batch, each claim that was won must be in the log, and no other',
    )
    const [, second] = claimed as [Receipt, Receipt, Receipt]
    const stale = { ...change(second, 'succeeded'), expect: { token: 'wrong', state: 'pending' as const } }
    await store.swap(claimed.map((receipt) => (receipt === second ? stale : change(receipt, 'succeeded'))))
    for (const receipt of claimed.slice(0, 4)) {
      const names = (await events(store, addressOf(receipt))).map(({ event }) => event)
      const expected = receipt === second ? ['claimed'] : ['claimed', 'settled']
      same(names, expected, 'of a batch, each change that was made must be in the log, and no other')
    }
  },

  'gives each event once, on pages of any length, forwards and back': async ({ store }) => {
    const all = await threeBatches(store)
    same(all.length, 55, 'each event of a batch must be in the log')
    for (const limit of [3, 7, 20, 54, 55, 56]) {
      same(await events(store, {}, limit), all, `pages of ${limit} must give each event once, in one order`)
      same(await lookBack(store, {}, limit), all.toReversed(), `and backwards, pages of ${limit} the same`)
    }
  },

  'finds the events of a scope, a tenant and an address, and from a time on': async ({ store, advance }) => {
    const early = await threeBatches(store)
    await advance(5)
    const all = [...early, ...(await threeBatches(store)).slice(early.length)]
    const { at: since } = all[early.length] as AuditEvent
    const one = all.find(({ event }) => event === 'settled') as AuditEvent
    for (const query of [{ tenant: 'b' }, { scope: 's' }, { tenant: 'a', scope: 's' }, addressOf(one)]) {
      const fits = (event: AuditEvent): boolean =>
        Object.entries(query).every(([part, name]) => event[part as 'key'] === name)
      const [wanted, late] = [all.filter(fits), all.filter((event) => fits(event) && event.at >= since)]
      const asked = JSON.stringify(query)
      same(await events(store, query, 9), wanted, `the log must be filtered: ${asked}`)
      same(await lookBack(store, query, 9), wanted.toReversed(), `also newest first: ${asked}`)
      same(await events(store, { ...query, since }, 9), late, `also from a time on: ${asked}`)
    }
  },

  'drops old events of a batch, and leaves a reader where it is': async ({ store, advance }) => {
    await store.claim(many(20))
    await store.claim(many(17))
    const all = await events(store, {})
    const { cursor } = await store.audit({ limit: 12 })
    await advance(SHORT_MS * 2)
    const { events: dropped } = await store.purge(7, SHORT_MS)
    const rest = await events(store, {}, 9)
    same(
      inOrder(rest),
      inOrder(all.filter((event) => rest.some(({ key }) => key === event.key))),
      'a purge must leave the other events of a batch as they are',
    )
    same(rest.length, all.length - dropped, 'a purge must count what it dropped')
    const on = (await store.audit({ limit: 50, cursor })).events.map(({ key }) => key)
    const left = new Set(rest.map(({ key }) => key))
    const wanted = all.slice(12).map(({ key }) => key)
    same(
      on,
      wanted.filter((key) => left.has(key)),
      'a purge must not move a reader: what is left after its cursor is what follows',
    )
    for (const event of rest.slice(0, 2))
      same(await events(store, addressOf(event)), [event], 'what a purge left must be found by its address')
    same(
      (await purgeAll(store, 7, SHORT_MS)).events,
      rest.length,
      'purges with a small limit must get to the end in a few calls',
    )
  },
})

function many(count: number, fields: Partial<Draft> = {}): Draft[] {
  return Array.from({ length: count }, () => draft(fields))
}

/** Claims of several tenants and scopes in one batch, settlements of some of them in another, and more claims. */
async function threeBatches(store: Store): Promise<readonly AuditEvent[]> {
  const wanted = [
    ...many(9, { tenant: 'a', scope: 's' }),
    ...many(8, { tenant: 'b', scope: 's' }),
    ...many(3),
  ]
  await store.claim(wanted)
  await put(store)
  const { receipts } = await store.get(wanted)
  await store.swap((receipts.slice(1, 18) as Receipt[]).map((receipt) => change(receipt, 'succeeded')))
  await store.claim(many(17, { tenant: 'b' }))
  return await events(store, {})
}

/** What came together has no order of its own. */
function inOrder(all: readonly AuditEvent[]): readonly AuditEvent[] {
  return all.toSorted((a, b) => (a.key < b.key ? -1 : 1))
}
