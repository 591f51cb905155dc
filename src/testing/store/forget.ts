/** Forget: deletes the named receipts that have ended, and nothing else: neither others, nor what is in use again. */
import type { Receipt } from '../../core/receipt.js'
import type { ReceiptClaim } from '../../store.js'
import { events } from './audit.js'
import { found } from './bench.js'
import { addressOf } from './claim.js'
import { change, draft, HOUR_MS, putAs, SHORT_MS, swapped } from './drafts.js'
import { holds, same } from './expect.js'
import { subject } from './suite.js'

export const forget = subject('forget', {
  '[R52] deletes the named ones that have ended, with an event each, and no others': async ({
    store,
    advance,
  }) => {
    const ended: Receipt[] = []
    for (const state of ['succeeded', 'failed', 'released'] as const)
      ended.push(await putAs(store, state, { forMs: SHORT_MS }))
    const others = [
      await putAs(store, 'succeeded', { forMs: SHORT_MS }),
      await putAs(store, 'failed', { forMs: SHORT_MS }),
    ]
    await advance(SHORT_MS * 2)
    const claims = ended.map(claimOf)
    const gone = await store.forget(claims)
    same(gone, 3, 'forget must delete what was named and has ended, and count it')
    same(
      (await store.get(ended)).receipts,
      [undefined, undefined, undefined],
      'what was forgotten must be gone',
    )
    same((await store.get(others)).receipts, others, 'forget must leave what was not named')
    for (const receipt of ended) {
      const last = (await events(store, addressOf(receipt))).at(-1)
      same(
        [last?.event, last?.state, last?.epoch],
        ['expired', null, receipt.epoch],
        'forget must write an expired event for each',
      )
    }
    same(await store.forget(claims), 0, 'what is gone must not be counted again')
    same(await store.forget([]), 0, 'forget must answer an empty list')
    const [claimed] = await store.claim([draft(addressOf(ended[0] as Receipt))])
    holds(claimed?.won === true, 'the address of a forgotten receipt must be free')
    holds(claimed.epoch > (ended[0] as Receipt).epoch, 'an epoch must not come again after it was forgotten')
  },

  '[R52] finds the claim that is there among several of its address': async ({ store, advance }) => {
    const ended = await putAs(store, 'succeeded', { forMs: SHORT_MS })
    await advance(SHORT_MS * 2)
    const claim = claimOf(ended)
    const named = [{ ...claim, epoch: claim.epoch - 1 }, claim, claim, { ...claim, epoch: claim.epoch + 1 }]
    same(
      await store.forget(named),
      1,
      'forget must delete a claim that is named beside others of its address, once',
    )
    same((await store.get([ended])).receipts, [undefined], 'what was forgotten must be gone')
  },

  '[R52] leaves what has not ended, what never ends, and what is pending or unknown': async ({
    store,
    advance,
  }) => {
    const kept = [
      await putAs(store, 'succeeded'),
      await putAs(store, 'failed', { forMs: null }),
      await putAs(store, 'pending', { forMs: SHORT_MS }),
      await putAs(store, 'unknown', { forMs: SHORT_MS }),
      await putAs(store, 'unknown', { forMs: null }),
    ]
    await advance(SHORT_MS * 2)
    same(await store.forget(kept.map(claimOf)), 0, 'forget must not count what it left')
    same((await store.get(kept)).receipts, kept, 'forget must delete only what is settled and has ended')
  },

  '[R52] leaves a receipt that was claimed anew since it was named': async ({ store, advance }) => {
    const old = await putAs(store, 'succeeded', { forMs: SHORT_MS })
    await advance(SHORT_MS * 2)
    await swapped(store, change(old, 'pending', { epoch: null, createdAt: null, outcome: null }))
    const running = await found(store, old)
    await swapped(store, change(running, 'succeeded', { forMs: SHORT_MS }))
    const anew = await found(store, old)
    await advance(SHORT_MS * 2)
    same(await store.forget([claimOf(old)]), 0, 'forget must go by the epoch')
    same(await found(store, old), anew, 'forget must not delete another claim of the same address')
    same(await store.forget([claimOf(anew)]), 1, 'the claim that is there can be forgotten')
  },

  'deletes many at once, whichever shard or page they are on': async ({ store, advance }) => {
    const wanted = Array.from({ length: 40 }, (_, i) => draft({ tenant: `tenant-${i % 3}` }))
    await store.claim(wanted)
    const { receipts } = await store.get(wanted)
    const pending = receipts.filter((receipt) => receipt !== undefined)
    await store.swap(pending.map((receipt) => change(receipt, 'succeeded', { forMs: SHORT_MS })))
    await advance(SHORT_MS * 2)
    const claims = pending.map(claimOf)
    same(await store.forget([...claims, ...claims.slice(0, 5)]), 40, 'each must be deleted once')
    same(
      (await store.get(wanted)).receipts.filter((receipt) => receipt !== undefined),
      [],
      'all that were named must be gone',
    )
    same((await store.purge(100, HOUR_MS)).receipts, 0, 'what was forgotten must not be purged again')
  },
})

function claimOf({ tenant, scope, key, epoch }: Receipt): ReceiptClaim {
  return { tenant, scope, key, epoch }
}
