/** Stores that break the contract in one way each: what the proofs have to find, or they prove nothing. */
import type { Receipt } from '../core/receipt.js'
import type { Claimed, Store, Swap } from '../store.js'

export type Plant = (store: Store) => Store

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

/** What lies between a process and its store. */
export interface Distance {
  /** Some time passes inside the store, in which others get their turn. */
  gap(): Promise<void>
  /** The clock of the process that asks, which is not the store's. */
  localNow(): number
}

/** Faults that show only over a distance: with time between two steps of the store, or with clocks that differ. */
export const PLANTED_APART: Readonly<Record<string, (store: Store, distance: Distance) => Store>> = {
  'a claim that reads first and inserts after': (store, { gap }) => ({
    ...store,
    async claim(wanted) {
      const { receipts, now } = await store.get(wanted)
      await gap()
      return await Promise.all(
        wanted.map(async (draft, at): Promise<Claimed> => {
          const found = receipts[at]
          if (found) return { won: false, now, found }
          const [claimed] = (await store.claim([draft])) as [Claimed]
          if (claimed.won) return claimed
          const { token, state } = claimed.found
          const [swapped] = await store.swap([{ expect: { token, state }, next: draft }])
          return swapped?.done ? { won: true, now: swapped.now, epoch: swapped.epoch } : claimed
        }),
      )
    },
  }),
  'a swap that compares first and writes after': (store, { gap }) => ({
    ...store,
    async swap(changes) {
      const { receipts } = await store.get(changes.map(({ next }) => next))
      await gap()
      return await Promise.all(
        changes.map(async ({ expect, next }, at) => {
          const seen = receipts[at]
          const fits = seen && seen.token === expect.token && seen.state === expect.state
          const { receipts: there, now } = await store.get([next])
          if (!fits || !there[0]) return { done: false, now }
          const { token, state } = there[0]
          const [swapped] = await store.swap([{ expect: { token, state }, next }])
          return swapped ?? { done: false, now }
        }),
      )
    },
  }),
  'a lease by the clock of whoever asks': (store, { localNow }) => ({
    ...store,
    async claim(wanted) {
      const claimed = await store.claim(wanted)
      return claimed.map((one) => ({ ...one, now: localNow() }))
    },
  }),
}
