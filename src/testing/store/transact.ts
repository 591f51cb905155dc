/** Transact: the caller's writes and the settling swap are kept together, or neither is. */
import type { Store } from '../../store.js'
import { events } from './audit.js'
import type { Bench, TestStoreOptions, TransactAccess } from './bench.js'
import { found } from './bench.js'
import { addressOf } from './claim.js'
import { change, HOUR_MS, put, swapped } from './drafts.js'
import { holds, must, refused, same } from './expect.js'
import { type Case, type Subject, subject } from './suite.js'

type Transact = NonNullable<Store['transact']>

export function transact(options: TestStoreOptions): Subject {
  return subject('transact', {
    'is offered if and only if the suite can test it': async ({ store }) => {
      const told = 'a store that offers transact must be tested with options.transact, and only such a store'
      same(options.transact !== undefined, store.transact !== undefined, told)
    },
    ...(options.transact ? offering : {}),
  })
}

const offering: Readonly<Record<string, Case['run']>> = {
  '[R10] commits the writes together with the swap': async (bench) => {
    const { run, write, read } = offered(bench)
    const stored = await put(bench.store)
    const result = await run(async (tx, swap) => {
      await write(tx, 'a', 'written')
      same(await read(tx, 'a'), 'written', 'a transaction must see its own writes')
      const done = await swap(change(stored, 'succeeded', { epoch: null, forMs: 5_000 }))
      holds(done.done, 'a swap inside a transaction must replace a receipt that is as expected')
      return done
    })
    const settled = await found(bench.store, stored)
    same([settled.state, settled.at, settled.until], ['succeeded', result.now, result.now + 5_000], STAMPED)
    same(settled.epoch, result.epoch, STAMPED)
    holds(settled.epoch > stored.epoch, STAMPED)
    same(await run(async (tx) => await read(tx, 'a')), 'written', 'what a transaction wrote must be kept')
    const names = (await events(bench.store, addressOf(stored))).map(({ event }) => event)
    same(names, ['claimed', 'settled'], 'a swap inside a transaction must leave its note')
  },

  '[R10] rolls back the writes together with the swap': async (bench) => {
    const { run, write, read } = offered(bench)
    const stored = await put(bench.store)
    const thrown = new RangeError('thrown by the caller')
    const failing = run(async (tx, swap) => {
      await write(tx, 'a', 'written')
      await swap(change(stored, 'succeeded'))
      throw thrown
    })
    const told = await refused(failing, 'a transaction whose work throws must reject')
    holds(told === thrown, "a transaction whose work throws must reject with the caller's own error")
    same(
      await found(bench.store, stored),
      stored,
      'a transaction that is rolled back must not change the receipt',
    )
    same(
      await run(async (tx) => await read(tx, 'a')),
      undefined,
      'a transaction that is rolled back must not keep what the caller wrote',
    )
    same(
      (await events(bench.store, addressOf(stored))).length,
      1,
      'a transaction that is rolled back must leave no note',
    )
  },

  '[R8][R10] lets a lost token roll everything back': async (bench) => {
    const { run, write, read } = offered(bench)
    const stored = await put(bench.store)
    await swapped(bench.store, change(stored, 'pending', { token: 'taken-over', epoch: null, attempt: 2 }))
    const taken = await found(bench.store, stored)
    let settled: boolean | undefined
    const zombie = run(async (tx, swap) => {
      await write(tx, 'a', 'by the zombie')
      settled = (await swap(change(stored, 'succeeded'))).done
      throw new RangeError('lease lost')
    })
    await refused(zombie, 'a transaction whose work throws must reject')
    same(settled, false, 'a swap inside a transaction must compare the token')
    same(await found(bench.store, stored), taken, 'a zombie must change nothing')
    same(await run(async (tx) => await read(tx, 'a')), undefined, 'a zombie must write nothing')
  },

  '[R10][R60] lets one of many transactions at once settle a receipt': async (bench) => {
    const { run, write, read } = offered(bench)
    const stored = await put(bench.store)
    const racing = Array.from({ length: 10 }, async (_, i) =>
      run(async (tx, swap) => {
        await write(tx, `effect-${i}`, 'done')
        const { done } = await swap(change(stored, 'succeeded', { outcome: `{"value":${i}}` }))
        if (!done) throw new RangeError('lease lost')
        return i
      }),
    )
    const settled = await Promise.allSettled(racing)
    const winners = settled.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
    same(winners.length, 1, 'of many transactions that settle one receipt, exactly one must commit')
    same((await found(bench.store, stored)).outcome, `{"value":${winners[0]}}`, 'its outcome must be kept')
    for (let i = 0; i < 10; i++) {
      const kept = await run(async (tx) => await read(tx, `effect-${i}`))
      same(
        kept === 'done',
        i === winners[0],
        'only the writes of the transaction that committed must be kept',
      )
    }
  },

  'commits a transaction without a swap': async (bench) => {
    const { run, write, read } = offered(bench)
    same(
      await run(async (tx) => await Promise.resolve(write(tx, 'b', 'x')).then(() => 7)),
      7,
      "a transaction must give back the caller's value",
    )
    same(await run(async (tx) => await read(tx, 'b')), 'x', 'what a transaction wrote must be kept')
    same((await bench.store.purge(10, HOUR_MS)).receipts, 0, 'a store must go on working after a transaction')
  },
}

const STAMPED = 'a swap inside a transaction must be stamped like any other'

function offered({ store, options }: Bench): { readonly run: Transact } & TransactAccess {
  const access = must(
    options.transact,
    'options.transact must say how to write in a transaction of this store',
  )
  const run: Transact = async (work) => {
    holds(store.transact !== undefined, 'a store tested with options.transact must offer transact')
    return await store.transact(work)
  }
  return { run, ...access }
}
