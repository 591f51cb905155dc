/** Stores that break the contract in one way each: what the proofs have to find, or they prove nothing. */
import type { Receipt } from '../../src/core/receipt.js'
import type { Store, Swap } from '../../src/store.js'

type Plant = (store: Store) => Store

/** A store whose swaps compare less than they should: `loosen` makes the expectation fit what is there. */
function loose(loosen: (change: Swap, found: Receipt) => Swap): Plant {
  return (store) => ({
    ...store,
    async swap(changes) {
      const { receipts } = await store.get(changes.map(({ next }) => next))
      return await store.swap(
        changes.map((change, at) => {
          const found = receipts[at]
          return found ? loosen(change, found) : change
        }),
      )
    },
  })
}

const expecting = (change: Swap, expect: Partial<Swap['expect']>): Swap => ({
  ...change,
  expect: { ...change.expect, ...expect },
})

export const PLANTED: Readonly<Record<string, Plant>> = {
  'a swap that does not ask whose receipt it is': loose((change, { token }) => expecting(change, { token })),
  'a swap that replaces whatever is there': loose((change, { token, state }) =>
    expecting(change, { token, state, until: undefined as never }),
  ),
  'a takeover that does not see a renewal': loose((change, { until }) =>
    change.expect.until === undefined ? change : expecting(change, { until }),
  ),
  'a takeover that keeps the epoch': loose((change, { epoch }) => ({
    ...change,
    next: { ...change.next, epoch },
  })),
  'a claim that overwrites a running one': (store) => ({
    ...store,
    async claim(wanted) {
      const claimed = await store.claim(wanted)
      return await Promise.all(
        claimed.map(async (one, at) => {
          if (one.won || one.found.state !== 'pending') return one
          const { token, state } = one.found
          const next = wanted[at] as (typeof wanted)[number]
          const [swapped] = await store.swap([{ expect: { token, state }, next }])
          return swapped?.done ? { won: true, now: swapped.now, epoch: swapped.epoch } : one
        }),
      )
    },
  }),
  'a claim that is acknowledged and then lost': (store) => {
    let claims = 0
    return {
      ...store,
      async claim(wanted) {
        if (++claims > 1) return await store.claim(wanted)
        const { now } = await store.get([])
        return wanted.map(() => ({ won: true, now, epoch: now * 1_000 }))
      },
    }
  },
}
