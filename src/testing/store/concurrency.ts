/** Concurrency inside one process: whatever comes at once, one wins, and everyone is told who. */
import type { Receipt } from '../../core/receipt.js'
import type { Store } from '../../store.js'
import { random } from '../random.js'
import { tally } from '../tally.js'
import { events } from './audit.js'
import type { Bench } from './bench.js'
import { found } from './bench.js'
import { addressOf } from './claim.js'
import { change, draft, next, put, putAs, SHORT_MS } from './drafts.js'
import { must, same } from './expect.js'
import { subject } from './suite.js'

export const concurrency = subject('concurrency', {
  '[R2][R60] lets one of many claims at once win': async (bench) => {
    const stores = await handles(bench)
    for (let round = 0; round < 10; round++) {
      const address = addressOf(draft())
      const wanted = Array.from({ length: 50 }, () => draft(address))
      const batches = await Promise.all(
        wanted.map((one, i) => pick(stores, i).claim([draft(), one, draft()])),
      )
      tally({ interleavings: wanted.length })
      const results = batches.map((batch) => must(batch[1], 'a claim must be answered once per receipt'))
      const winners = wanted.filter((_, i) => results[i]?.won)
      same(winners.length, 1, 'of many claims of one address at once, exactly one must win')
      const seen = results.flatMap((result) => (result.won ? [] : [result.found.token]))
      same([...new Set(seen)], [winners[0]?.token], 'all other claims must be told of the winner')
      same((await found(bench.store, address)).token, winners[0]?.token, 'the winner must be what is kept')
    }
  },

  '[R2] takes batches over the same addresses in any order': async (bench) => {
    const stores = await handles(bench)
    const { shuffle } = random(1)
    const addresses = Array.from({ length: 30 }, () => addressOf(draft()))
    const batches = Array.from({ length: 20 }, () => shuffle(addresses).map((address) => draft(address)))
    const answers = await Promise.all(batches.map((batch, i) => pick(stores, i).claim(batch)))
    tally({ interleavings: batches.length })
    const wins = new Map<string, number>()
    answers.flatMap((answer, i) =>
      answer.forEach((result, j) => {
        const key = batches[i]?.[j]?.key as string
        if (result.won) wins.set(key, (wins.get(key) ?? 0) + 1)
        else same(result.found.key, key, 'each claim must be told of the receipt at its own address')
      }),
    )
    same(
      addresses.map(({ key }) => wins.get(key)),
      addresses.map(() => 1),
      'each address must have one winner',
    )
    const stored = (await bench.store.get(addresses)).receipts as Receipt[]
    const swaps = Array.from({ length: 10 }, () =>
      shuffle(stored).map((receipt) => change(receipt, 'succeeded')),
    )
    const done = (await Promise.all(swaps.map((batch, i) => pick(stores, i).swap(batch)))).flat()
    same(done.filter((result) => result.done).length, 30, 'each receipt must be settled once')
  },

  '[R8] lets one of many swaps at once win': async (bench) => {
    const stores = await handles(bench)
    for (let round = 0; round < 10; round++) {
      const stored = await put(bench.store)
      const { token, until } = stored
      const takers = Array.from({ length: 40 }, (_, i) => `taker-${i}`)
      const results = await Promise.all(
        takers.map(async (taker, i) => {
          const taken = next(stored, 'pending', {
            token: taker,
            epoch: null,
            attempt: 2,
            audit: { event: 'takeover' },
          })
          const [result] = await pick(stores, i).swap([
            { expect: { token, state: 'pending', until }, next: taken },
          ])
          return must(result, 'a swap must be answered')
        }),
      )
      tally({ interleavings: takers.length })
      const winners = takers.filter((_, i) => results[i]?.done)
      same(winners.length, 1, 'of many swaps of one receipt at once, exactly one must be made')
      same((await found(bench.store, stored)).token, winners[0], 'the one that was made must be what is kept')
      const takeovers = (await events(bench.store, addressOf(stored))).filter(
        ({ event }) => event === 'takeover',
      )
      same(takeovers.length, 1, 'only the swap that was made must leave a note')
    }
  },

  'does not purge what is being taken over': async (bench) => {
    const stores = await handles(bench)
    const ended = []
    for (let i = 0; i < 40; i++) ended.push(await putAs(bench.store, 'succeeded', { forMs: SHORT_MS }))
    await bench.advance(SHORT_MS * 2)
    const purges: Promise<unknown>[] = []
    const takeovers = ended.map(async (receipt, i) => {
      purges.push(pick(stores, i + 1).purge(2, 86_400_000))
      const taken = change(receipt, 'pending', { token: `new-${i}`, epoch: null })
      const [result] = await pick(stores, i).swap([taken])
      return result?.done === true
    })
    const taken = await Promise.all(takeovers)
    await Promise.all(purges)
    const { receipts } = await bench.store.get(ended)
    same(
      receipts.map((receipt) => receipt !== undefined && receipt.state === 'pending'),
      taken,
      'an ended receipt must be either taken over and stay, or be purged and not be taken over',
    )
  },

  'gives no reader half a change': async (bench) => {
    const stores = await handles(bench)
    const stored = await put(bench.store, { fingerprint: 'f-0', token: 't-0', attempt: 1 })
    const writing = { now: true }
    const readers = stores.map(async (store) => {
      const reads = []
      for (; writing.now; await new Promise(setImmediate)) reads.push(await found(store, stored))
      return reads
    })
    try {
      for (let i = 1, receipt = stored; i <= 30; i++) {
        const wanted = { token: `t-${i}`, fingerprint: `f-${i}`, attempt: i + 1, epoch: null }
        await bench.store.swap([change(receipt, 'pending', wanted)])
        receipt = await found(bench.store, stored)
        await new Promise(setImmediate)
      }
    } finally {
      writing.now = false
    }
    for (const read of (await Promise.all(readers)).flat()) {
      const number = read.attempt - 1
      same([read.token, read.fingerprint], [`t-${number}`, `f-${number}`], 'a receipt must be read whole')
    }
  },
})

/** Where the data can be opened more than once, several at a time: two connections race where one cannot. */
async function handles(bench: Bench): Promise<readonly Store[]> {
  if (bench.options.durable === false) return [bench.store]
  return [bench.store, await bench.open(), await bench.open()]
}

function pick(stores: readonly Store[], i: number): Store {
  return stores[i % stores.length] as Store
}
