/** Time: every instant is the store's, and an epoch never goes backwards. */
import { type Bench, found, nowOf, type TestStoreOptions } from './bench.js'
import { addressOf } from './claim.js'
import { change, draft, HOUR_MS, put, putAs, SHORT_MS, swapped } from './drafts.js'
import { holds, same } from './expect.js'
import { type Case, type Subject, subject } from './suite.js'

export function time(options: TestStoreOptions): Subject {
  return subject('time', {
    ...always,
    ...(options.time === 'clock' ? movable : {}),
    ...(options.time === 'server' ? elsewhere : {}),
  })
}

const always: Readonly<Record<string, Case['run']>> = {
  '[R3] turns durations into instants': async ({ store }) => {
    const wanted = draft({ forMs: 12_345 })
    const [claimed] = await store.claim([wanted])
    const stored = await found(store, wanted)
    same(
      [stored.at, stored.createdAt],
      [claimed?.now, claimed?.now],
      'a claim must be stamped with its own now',
    )
    same(stored.until, stored.at + 12_345, 'until must be now + forMs')
    const done = await swapped(store, change(stored, 'succeeded', { forMs: 777 }))
    const settled = await found(store, wanted)
    same([settled.at, settled.until], [done.now, done.now + 777], 'a swap must be stamped with its own now')
  },

  'tells one time from all methods': async ({ store, advance }) => {
    let last = await nowOf(store)
    for (let round = 0; round < 3; round++) {
      const wanted = draft()
      const [claimed] = await store.claim([wanted])
      const stored = await found(store, wanted)
      const [swap] = await store.swap([change(stored, 'released')])
      const [missed] = await store.swap([change(stored, 'released')])
      const [lost] = await store.claim([wanted])
      const page = await store.scan({ limit: 1 })
      for (const now of [claimed?.now, swap?.now, missed?.now, lost?.now, page.now, await nowOf(store)]) {
        holds(
          typeof now === 'number' && now >= last,
          'now must be a number of milliseconds that does not go back',
        )
        last = now
      }
      await advance(SHORT_MS)
      const later = await nowOf(store)
      holds(later >= last + SHORT_MS, "now must be the store's clock: it must go on as that does")
      last = later
    }
  },

  'takes an epoch from the clock, in microseconds': async ({ store }) => {
    const [claimed] = await store.claim([draft()])
    holds(claimed?.won === true, 'a store must insert a receipt whose address is free')
    const least = Math.floor(claimed.now * 1_000)
    holds(claimed.epoch >= least, 'an epoch must be the clock in microseconds, or above it')
    holds(claimed.epoch < least + 60_000_000, 'an epoch must not run far ahead of the clock')
  },

  'raises the epoch with every attempt, however fast they come': async ({ store }) => {
    let receipt = await put(store)
    for (let attempt = 2; attempt < 30; attempt++) {
      await swapped(store, change(receipt, 'pending', { epoch: null, attempt }))
      const taken = await found(store, receipt)
      holds(taken.epoch > receipt.epoch, 'every attempt must get a higher epoch than the one before')
      receipt = taken
    }
  },

  'starts above the last epoch after a purge': async (bench) => {
    const { store } = bench
    let receipt = await put(store)
    for (let i = 0; i < 50; i++) await swapped(store, change(receipt, 'pending', { epoch: null }))
    receipt = await found(store, receipt)
    await forgotten(bench, receipt)
    const again = await put(store, addressOf(receipt))
    holds(again.epoch > receipt.epoch, 'a receipt that comes after a purged one must have a higher epoch')
  },
}

/** Only where the suite moves the clock. */
const movable: Readonly<Record<string, Case['run']>> = {
  '[R61] follows its own clock, whatever this process thinks the time is': async ({ store, context }) => {
    for (const shiftMs of [0, 86_400_000, -2 * 86_400_000]) {
      context.clock.advance(shiftMs)
      const before = context.clock.now()
      const wanted = draft()
      const [claimed] = await store.claim([wanted])
      const page = await store.scan({ limit: 1 })
      const [swap] = await store.swap([change(await found(store, wanted), 'released')])
      const after = context.clock.now()
      for (const now of [claimed?.now, page.now, swap?.now, (await store.get([wanted])).now - 0]) {
        const inside =
          now !== undefined && now >= before - 1 && now <= Math.max(after, context.clock.now()) + 1
        holds(inside, "now must be the store's clock, not that of the calling process")
      }
    }
  },

  '[R61] keeps epochs going up when the clock steps back': async ({ store, context }) => {
    const first = await put(store)
    context.clock.advance(-HOUR_MS)
    const done = await swapped(store, change(first, 'pending', { epoch: null }))
    holds(done.epoch > first.epoch, 'an epoch must not go back with the clock')
  },

  '[R61] keeps epochs going up over a purge and a clock that steps back': async (bench) => {
    const { store, context } = bench
    const first = await put(store)
    await forgotten(bench, first)
    context.clock.advance(-HOUR_MS)
    const again = await put(store, addressOf(first))
    holds(again.epoch > first.epoch, 'an epoch must not go back with the clock, not even after a purge')
    const [claimed] = await store.claim([draft(addressOf(first))])
    holds(claimed?.won === false, 'a purge must leave nothing half done')
  },
}

/** Only where the store has a computer of its own. */
const elsewhere: Readonly<Record<string, Case['run']>> = {
  '[R61] is not moved by the clock of the calling process': async ({ store }) => {
    const real = Date.now
    for (const shiftMs of [86_400_000, -86_400_000]) {
      const before = await nowOf(store)
      Date.now = () => real() + shiftMs
      try {
        const stored = await putAs(store, 'succeeded')
        const shifted = Math.abs(stored.at - before)
        holds(shifted < HOUR_MS, "a store must stamp with its own clock, not with the caller's")
      } finally {
        Date.now = real
      }
    }
  },
}

async function forgotten({ store, advance }: Bench, receipt: Awaited<ReturnType<typeof put>>): Promise<void> {
  await swapped(store, change(receipt, 'released', { forMs: SHORT_MS }))
  await advance(SHORT_MS * 2)
  for (let round = 0; round < 20; round++) {
    await store.purge(1_000, HOUR_MS * 24)
    const { receipts } = await store.get([receipt])
    if (receipts[0] === undefined) return
  }
  holds(false, 'a purge must delete a released receipt whose window has ended')
}
