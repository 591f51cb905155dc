/** Claim: insert if absent, in one atomic step; otherwise what is there, untouched. */
import { type Address, RECOVERIES, STATES } from '../../core/receipt.js'
import { found } from './bench.js'
import { draft, put, putAs, SHORT_MS, stamped } from './drafts.js'
import { holds, same } from './expect.js'
import { subject } from './suite.js'

export const claim = subject('claim', {
  '[R2] inserts a receipt whose address is free': async ({ store }) => {
    const wanted = draft()
    const results = await store.claim([wanted])
    same(results.length, 1, 'a claim must be answered once per receipt')
    const claimed = results[0]
    holds(claimed?.won === true, 'a store must insert a receipt whose address is free')
    holds(
      Number.isSafeInteger(claimed.epoch) && claimed.epoch > 0,
      'an epoch must be a positive whole number',
    )
    same(await found(store, wanted), stamped(wanted, claimed), 'a store must keep what it inserted, stamped')
  },

  '[R2] answers a second claim with what is there, and changes nothing': async ({ store }) => {
    const first = await put(store)
    const second = draft({ ...addressOf(first), fingerprint: 'other', attempt: 3, forMs: null })
    const [claimed] = await store.claim([second])
    holds(claimed?.won === false, 'a store must not insert over a receipt')
    same(claimed.found, first, 'a claim that is lost must be told the stored receipt, as it is')
    same(await found(store, first), first, 'a claim that is lost must change nothing')
  },

  'answers a batch in its order': async ({ store }) => {
    const taken = [await put(store), await put(store), await put(store)]
    const free = [draft(), draft(), draft()]
    const batch = free.flatMap((wanted, i) => [draft(addressOf(taken[2 - i] as never)), wanted])
    const results = await store.claim(batch)
    const told = results.map((result, i) => (result.won ? batch[i]?.key : result.found.key))
    same(
      told,
      batch.map(({ key }) => key),
      'a store must answer the claims of a batch in their order',
    )
    same(
      results.map(({ won }) => won),
      [false, true, false, true, false, true],
      'each claim of a batch must stand for itself',
    )
  },

  '[R2, R60] lets one of a whole batch of claims of one address win, and tells the others': async ({
    store,
  }) => {
    const first = draft()
    const others = Array.from({ length: Math.min(store.maxBatch, 200) - 2 }, () => draft(addressOf(first)))
    const bystander = draft()
    const results = await store.claim([first, ...others, bystander])
    same(
      results.map(({ won }) => won),
      [true, ...others.map(() => false), true],
      'of all claims of one address in a batch, the first must win, whatever else is in it',
    )
    for (const result of results.slice(1, -1)) {
      holds(!result.won && result.found.token === first.token, 'each other must be told of the first')
    }
  },

  '[R2] lets the first of two claims in one batch win': async ({ store }) => {
    const first = draft()
    const second = draft(addressOf(first))
    const results = await store.claim([first, draft(), second])
    same(
      results.map(({ won }) => won),
      [true, true, false],
      'of two claims in one batch, the first must win',
    )
    const loser = results[2]
    holds(loser?.won === false && loser.found.token === first.token, 'the second must be told of the first')
  },

  'takes an empty batch and a full one': async ({ store }) => {
    same(await store.claim([]), [], 'a store must answer an empty batch with an empty list')
    const batch = Array.from({ length: Math.min(store.maxBatch, 1_000) }, () => draft())
    const results = await store.claim(batch)
    holds(
      results.length === batch.length && results.every(({ won }) => won),
      'a store must take maxBatch claims',
    )
    const { receipts } = await store.get(batch)
    same(
      receipts.map((receipt) => receipt?.token),
      batch.map(({ token }) => token),
      'a store must keep all the claims of a full batch',
    )
  },

  'counts a receipt as present in every state': async ({ store }) => {
    for (const state of STATES) {
      const stored = await putAs(store, state)
      const [claimed] = await store.claim([draft(addressOf(stored))])
      holds(claimed?.won === false, `a store must not insert over a receipt that is ${state}`)
      same(claimed.found, stored, `a claim must be told a receipt that is ${state}, as it is`)
    }
  },

  'counts a receipt as present after its lease or window has ended': async ({ store, advance }) => {
    for (const state of STATES) {
      const stored = await putAs(store, state, { forMs: SHORT_MS })
      await advance(SHORT_MS * 2)
      const [claimed] = await store.claim([draft(addressOf(stored))])
      holds(claimed?.won === false, `an ended ${state} receipt must still be there: only a purge removes one`)
      same(claimed.found, stored, 'a claim must be told an ended receipt, as it is: the engine decides')
      holds(
        claimed.now >= (stored.until as number),
        'a claim must be told the time by which a receipt has ended',
      )
    }
  },

  'keeps every recovery and every number': async ({ store }) => {
    for (const recovery of RECOVERIES) {
      const numbers = { attempt: 7, maxAttempts: 1_000_000, leaseMs: 1, windowMs: 100 * 365 * 86_400_000 }
      const wanted = draft({ recovery, ...numbers })
      const [claimed] = await store.claim([wanted])
      holds(claimed?.won === true, 'a store must insert a receipt whose address is free')
      same(
        await found(store, wanted),
        stamped(wanted, claimed),
        'a store must keep every field as it was given',
      )
    }
  },
})

export function addressOf({ tenant, scope, key }: Address): Address {
  return { tenant, scope, key }
}
