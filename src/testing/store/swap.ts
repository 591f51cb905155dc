/** Swap: replace a receipt if it is still the expected one, in one atomic step; otherwise nothing. */
import type { Store, Swap } from '../../store.js'
import type { Receipt } from '../../core/receipt.js'
import { found } from './bench.js'
import { change, draft, HOUR_MS, next, put, putAs, SHORT_MS, swapped } from './drafts.js'
import { holds, same } from './expect.js'
import { subject } from './suite.js'

export const swap = subject('swap', {
  '[R3] replaces a receipt that is as expected': async ({ store }) => {
    const before = await put(store)
    const wanted = next(before, 'succeeded', {
      token: 'next-token',
      attempt: 2,
      maxAttempts: 9,
      recovery: 'check',
      leaseMs: 1,
      windowMs: 2,
      fingerprint: 'other',
    })
    const done = await swapped(store, { expect: { token: before.token, state: 'pending' }, next: wanted })
    const { audit: _audit, forMs: _forMs, ...content } = wanted
    same(
      await found(store, before),
      {
        ...content,
        epoch: before.epoch,
        createdAt: before.createdAt,
        at: done.now,
        until: done.now + HOUR_MS,
      },
      'a store must replace every field by what the swap brings, and stamp it',
    )
  },

  '[R8] changes nothing for another token': async ({ store }) => {
    const token = 'Token-a'
    for (const wrong of ['token-a', 'Token-', 'Token-a ', ' Token-a', 'Token-b', '', '%']) {
      const stored = await put(store, { token })
      await rejected(store, stored, {
        ...change(stored, 'succeeded'),
        expect: { token: wrong, state: 'pending' },
      })
      await rejected(store, stored, change({ ...stored, token: wrong }, 'succeeded'))
    }
  },

  '[R8] changes nothing for another state': async ({ store }) => {
    for (const state of ['released', 'succeeded', 'failed', 'unknown'] as const) {
      const stored = await putAs(store, state)
      await rejected(store, stored, {
        ...change(stored, 'failed'),
        expect: { token: stored.token, state: 'pending' },
      })
      const pending = await put(store)
      await rejected(store, pending, {
        ...change(pending, 'failed'),
        expect: { token: pending.token, state },
      })
    }
  },

  'compares until where it is given': async ({ store }) => {
    const leased = await put(store)
    const until = leased.until as number
    const { token } = leased
    for (const other of [until - 1, until + 1, null]) {
      await rejected(store, leased, {
        ...change(leased, 'released'),
        expect: { token, state: 'pending', until: other },
      })
    }
    await swapped(store, {
      ...change(leased, 'unknown', { forMs: null }),
      expect: { token, state: 'pending', until },
    })
    const held = await found(store, leased)
    await rejected(store, held, { ...change(held, 'failed'), expect: { token, state: 'unknown', until } })
    await swapped(store, { ...change(held, 'failed'), expect: { token, state: 'unknown', until: null } })
  },

  'does not see a lease that was renewed as the same': async ({ store, advance }) => {
    const leased = await put(store)
    await advance(2)
    await swapped(store, change(leased, 'pending'))
    const { token, until } = leased
    const renewed = await found(store, leased)
    holds((renewed.until as number) > (until as number), 'a swap must move until on with the clock')
    await rejected(store, renewed, {
      ...change(renewed, 'unknown'),
      expect: { token, state: 'pending', until },
    })
  },

  'inserts nothing where there is nothing': async ({ store }) => {
    const absent = draft()
    const results = await store.swap([{ expect: { token: absent.token, state: 'pending' }, next: absent }])
    same(
      results.map(({ done }) => done),
      [false],
      'a swap must not insert',
    )
    same((await store.get([absent])).receipts, [undefined], 'a swap must not insert')
  },

  'changes a receipt whose lease has ended': async ({ store, advance }) => {
    const leased = await put(store, { forMs: SHORT_MS })
    await advance(SHORT_MS * 2)
    await swapped(store, change(leased, 'succeeded'))
    same(
      (await found(store, leased)).state,
      'succeeded',
      'a swap must not ask whether a lease has ended: the engine judges that',
    )
  },

  'answers a batch in its order': async ({ store }) => {
    const stored = [await put(store), await put(store), await put(store), await put(store)]
    const [a, b, c, d] = stored as [Receipt, Receipt, Receipt, Receipt]
    const wrong = { token: 'wrong', state: 'pending' } as const
    const batch = [
      change(d, 'failed'),
      { ...change(b, 'failed'), expect: wrong },
      change(a, 'released'),
      change(c, 'unknown'),
    ]
    const results = await store.swap(batch)
    same(
      results.map(({ done }) => done),
      [true, false, true, true],
      'a store must answer the swaps of a batch in order',
    )
    const { receipts } = await store.get(stored)
    same(
      receipts.map((r) => r?.state),
      ['released', 'pending', 'unknown', 'failed'],
      'each swap of a batch must change its own receipt',
    )
    same(await store.swap([]), [], 'a store must answer an empty batch with an empty list')
  },

  '[R8] makes all of a large batch but what is not as expected': async ({ store }) => {
    for (const odd of ['of a zombie', 'made before', 'of nothing'] as const) {
      const drafts = Array.from({ length: 40 }, () => draft({ scope: odd }))
      await store.claim(drafts)
      const stored = (await store.get(drafts)).receipts as [Receipt, ...Receipt[]]
      const batch = stored.map((receipt) => change(receipt, 'succeeded'))
      const absent = draft({ epoch: 1, createdAt: 1 })
      const wanted = {
        'of a zombie': change({ ...stored[0], token: 'a token of before' }, 'failed'),
        'made before': change(stored[0], 'failed'),
        'of nothing': { expect: { token: absent.token, state: 'pending' } as const, next: absent },
      }
      // A zombie finds its receipt still pending; the others come to what is settled, or to nothing.
      const isFirst = odd === 'of a zombie'
      const results = await store.swap(isFirst ? [wanted[odd], ...batch] : [...batch, wanted[odd]])
      const made = batch.map(() => true)
      same(
        results.map(({ done }) => done),
        isFirst ? [false, ...made] : [...made, false],
        `a store must make every swap of a batch but one ${odd}`,
      )
      const { receipts } = await store.get([...drafts, absent])
      same(
        receipts.map((receipt) => receipt?.state),
        [...batch.map(() => 'succeeded'), undefined],
        'each swap of a batch must change its own receipt, and only that',
      )
      const { events } = await store.audit({ scope: odd, limit: 1_000 })
      same(
        events.filter(({ event }) => event === 'settled').length,
        batch.length,
        'a change that was made must be in the log once, and one that was not, never',
      )
    }
  },

  'lets a later swap in a batch see an earlier one': async ({ store }) => {
    const first = await put(store)
    const taken = change(first, 'pending', { token: 'second', epoch: null, attempt: 2 })
    const late = change(first, 'succeeded')
    const settle = {
      expect: { token: 'second', state: 'pending' },
      next: next(first, 'failed', { token: 'second' }),
    } as const
    const release = {
      expect: { token: 'second', state: 'failed' },
      next: next(first, 'released', { token: 'second' }),
    } as const
    const results = await store.swap([taken, late, settle, release])
    same(
      results.map(({ done }) => done),
      [true, false, true, true],
      'swaps of a batch must be carried out one after the other',
    )
    same((await found(store, first)).state, 'released', 'the last swap that was made must be what is kept')
  },

  '[R8] settles one receipt and hands another over in the same batch': async ({ store }) => {
    const [settled, taken] = [await put(store), await put(store)]
    const claim = {
      token: 'the next',
      attempt: 2,
      maxAttempts: 9,
      leaseMs: 7_000,
      windowMs: 8_000,
      epoch: null,
    }
    await store.swap([
      change(settled, 'succeeded'),
      change(taken, 'pending', { ...claim, recovery: 'retry', audit: { event: 'takeover' } }),
    ])
    const { token, attempt, maxAttempts, leaseMs, windowMs, recovery, epoch } = await found(store, taken)
    const { epoch: _, ...wanted } = claim
    same(
      { token, attempt, maxAttempts, leaseMs, windowMs, recovery },
      { ...wanted, recovery: 'retry' },
      'a receipt that is handed over must be under the terms of its new claim',
    )
    holds(epoch > taken.epoch, 'a receipt that is handed over must have a new epoch')
    const kept = await found(store, settled)
    same(
      [kept.state, kept.token, kept.attempt, kept.epoch, kept.windowMs],
      ['succeeded', settled.token, settled.attempt, settled.epoch, settled.windowMs],
      'a settlement must keep what was claimed, whatever else is in its batch',
    )
  },

  'keeps an epoch that is given, and makes a higher one otherwise': async ({ store }) => {
    const first = await put(store)
    const kept = await swapped(store, change(first, 'pending'))
    same(kept.epoch, first.epoch, 'a swap that gives an epoch must keep it')
    const fresh = await swapped(store, change(first, 'pending', { epoch: null }))
    holds(fresh.epoch > first.epoch, 'a swap without an epoch must get one above the last')
    same(
      (await found(store, first)).epoch,
      fresh.epoch,
      'the epoch in the answer must be the one that is kept',
    )
  },

  'keeps createdAt where it is given, and sets it otherwise': async ({ store, advance }) => {
    const first = await put(store)
    await advance(5)
    await swapped(store, change(first, 'pending'))
    same((await found(store, first)).createdAt, first.createdAt, 'a swap that gives createdAt must keep it')
    const { now } = await swapped(store, change(first, 'pending', { createdAt: null }))
    same((await found(store, first)).createdAt, now, 'a swap without createdAt must set it to now')
    holds(now > first.createdAt, "now must be the store's clock")
  },

  '[R11] keeps for ever what has no end': async ({ store }) => {
    const first = await put(store)
    await swapped(store, change(first, 'unknown', { forMs: null }))
    same((await found(store, first)).until, null, 'forMs null must become until null')
    const zero = await put(store, { forMs: 0 })
    same(zero.until, zero.at, 'forMs 0 must become an end at once, not no end')
  },
})

async function rejected(store: Store, stored: Receipt, wanted: Swap): Promise<void> {
  const [result] = await store.swap([wanted])
  const given = JSON.stringify(wanted.expect)
  holds(result?.done === false, `a store must not replace a receipt that is not as expected: ${given}`)
  same(await found(store, stored), stored, `a swap that is not made must change nothing: ${given}`)
}
