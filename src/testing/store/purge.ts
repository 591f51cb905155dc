/** Purge: forgets, in bounded batches, what is settled and past its window. Nothing else, however old. */
import type { Receipt } from '../../core/receipt.js'
import type { Purged, Store } from '../../store.js'
import { events } from './audit.js'
import { addressOf } from './claim.js'
import { draft, HOUR_MS, put, putAs, SHORT_MS } from './drafts.js'
import { holds, same } from './expect.js'
import { subject } from './suite.js'

export const purge = subject('purge', {
  '[R11] deletes what is settled or released and past its window': async ({ store, advance }) => {
    const ended = []
    for (const state of ['succeeded', 'failed', 'released'] as const) {
      ended.push(await putAs(store, state, { forMs: SHORT_MS }))
    }
    await advance(SHORT_MS * 2)
    same((await purgeAll(store)).receipts, 3, 'a purge must count what it deleted')
    same(await left(store, ended), [], 'a purge must delete settled and released receipts that have ended')
    const [claimed] = await store.claim([draft(addressOf(ended[0] as Receipt))])
    holds(claimed?.won === true, 'the address of a deleted receipt must be free')
  },

  '[R11] never deletes what is pending or unknown': async ({ store, advance }) => {
    const kept = [
      await putAs(store, 'pending', { forMs: SHORT_MS }),
      await putAs(store, 'unknown', { forMs: SHORT_MS }),
      await putAs(store, 'unknown', { forMs: null }),
    ]
    await advance(SHORT_MS * 2)
    same((await purgeAll(store)).receipts, 0, 'a purge must not touch what is pending or unknown')
    same(
      (await store.get(kept)).receipts,
      kept,
      'what is pending or unknown must never be forgotten by itself',
    )
  },

  'keeps what has not ended, and what never ends': async ({ store, advance }) => {
    const kept = [await putAs(store, 'succeeded'), await putAs(store, 'failed', { forMs: null })]
    await advance(SHORT_MS)
    same((await purgeAll(store)).receipts, 0, 'a purge must keep a receipt until its window has ended')
    same((await store.get(kept)).receipts, kept, 'a purge must keep a receipt until its window has ended')
  },

  'deletes no more than its limit at once': async ({ store, advance }) => {
    const ended = []
    for (let i = 0; i < 10; i++) ended.push(await putAs(store, 'succeeded', { forMs: SHORT_MS }))
    await advance(SHORT_MS * 2)
    const first = await store.purge(3, HOUR_MS * 24)
    const rest = await left(store, ended)
    holds(first.receipts <= 3 && rest.length >= 7, 'a purge must not delete more receipts than its limit')
    same(10 - rest.length, first.receipts, 'a purge must count what it deleted')
    same(
      (await purgeAll(store, 3)).receipts + first.receipts,
      10,
      'purges with a small limit must get to the end in a few calls',
    )
    same(await left(store, ended), [], 'purges with a small limit must get to the end in a few calls')
  },

  '[R50] writes an expired event for each': async ({ store, advance }) => {
    const ended = await putAs(store, 'succeeded', { forMs: SHORT_MS })
    await advance(SHORT_MS * 2)
    await purgeAll(store)
    const [last, ...more] = (await events(store, addressOf(ended))).filter(({ event }) => event === 'expired')
    same(more, [], 'a purge must write one event for one receipt')
    const { epoch, attempt, fingerprint } = ended
    holds(last !== undefined, 'a purge must write an expired event for each receipt')
    const { at, ...told } = last
    const expected = {
      ...addressOf(ended),
      event: 'expired',
      state: null,
      epoch,
      attempt,
      fingerprint,
      count: 1,
    }
    same(told, expected, 'an expired event must say which receipt is gone')
    holds(at >= (ended.until as number), "an expired event must say when, by the store's clock")
  },

  'keeps the audit log of a deleted receipt, and drops old events apart': async ({ store, advance }) => {
    const ended = await putAs(store, 'succeeded', { forMs: SHORT_MS })
    await advance(SHORT_MS * 2)
    const purged = await purgeAll(store)
    same(purged.events, 0, 'audit events younger than auditMs must stay')
    const names = (await events(store, addressOf(ended))).map(({ event }) => event)
    same(names, ['claimed', 'settled', 'expired'], 'the audit log must outlive the receipt')
    await advance(SHORT_MS * 2)
    const later = await purgeAll(store, 100, SHORT_MS)
    same(
      [later.receipts, later.events],
      [0, 3],
      'a purge must drop audit events older than auditMs, and count them',
    )
    same(await events(store, {}), [], 'a purge must drop audit events older than auditMs')
  },

  'drops no more audit events than its limit at once': async ({ store, advance }) => {
    const receipts = []
    for (let i = 0; i < 8; i++) receipts.push(await put(store))
    await advance(SHORT_MS * 2)
    const { events: dropped } = await store.purge(3, SHORT_MS)
    const rest = await events(store, {})
    holds(
      dropped <= 3 && rest.length === 8 - dropped,
      'a purge must not drop more audit events than its limit',
    )
    same(
      (await purgeAll(store, 3, SHORT_MS)).events,
      8 - dropped,
      'purges with a small limit must get to the end in a few calls',
    )
    same((await store.get(receipts)).receipts, receipts, 'dropping audit events must not touch receipts')
  },
})

/** As often as it finds something. */
export async function purgeAll(store: Store, limit = 100, auditMs = HOUR_MS * 24): Promise<Purged> {
  const sum = { receipts: 0, events: 0 }
  for (let round = 0; round < 100; round++) {
    const { receipts, events: dropped } = await store.purge(limit, auditMs)
    if (receipts === 0 && dropped === 0) return sum
    sum.receipts += receipts
    sum.events += dropped
  }
  holds(false, 'a purge must come to an end: a hundred calls, and it still finds something')
}

async function left(store: Store, receipts: readonly Receipt[]): Promise<readonly (Receipt | undefined)[]> {
  return (await store.get(receipts)).receipts.filter((receipt) => receipt !== undefined)
}
