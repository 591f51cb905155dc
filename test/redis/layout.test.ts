/** The layout is decided once and holds for all; the indexes follow the journal, whoever brings them up to date. */
import { describe, expect, it, vi } from 'vitest'
import type { Receipt } from '../../src/core/receipt.js'
import type { Store } from '../../src/store.js'
import { DUE } from '../../src/stores/redis/upkeep.js'
import { change, draft, HOUR_MS, put, putAs, SHORT_MS } from '../../src/testing/store/drafts.js'
import { pages } from '../../src/testing/store/scan.js'
import { withRedis } from './bench.js'

const bench = withRedis()

describe('shards', () => {
  it('are what the first store said, also for those who say nothing', async () => {
    const first = bench.open({ shards: 7 })
    const receipt = await put(first)
    const second = bench.open()
    expect((await second.check()).facts['shards']).toBe(7)
    expect((await second.get([receipt])).receipts).toEqual([receipt])
  })

  it('refuse another number, before anything is written', async () => {
    await put(bench.open({ shards: 2 }))
    const other = bench.open({ shards: 3 })
    await expect(other.claim([draft()])).rejects.toMatchObject({ code: 'INVALID_INTENT', retriable: false })
  })

  it('refuse data of another version', async () => {
    await bench.server.cli('SET', `${bench.prefix}:layout`, '999:1')
    await expect(bench.open().get([])).rejects.toThrow('another version')
  })

  it('refuse options that make no sense', () => {
    for (const options of [
      { prefix: '' },
      { prefix: 'a{b}' },
      { shards: 0 },
      { shards: 1.5 },
      { timeoutMs: -1 },
      { wait: { replicas: 0, timeoutMs: 1 } },
    ]) {
      expect(() => bench.open(options)).toThrow(expect.objectContaining({ code: 'INVALID_INTENT' }))
    }
  })
})

describe('scripts', () => {
  it('are sent in full to a server that has forgotten them', async () => {
    const store = bench.open()
    const receipt = await put(store)
    for (let i = 0; i < 3; i++) {
      await bench.server.cli('SCRIPT', 'FLUSH')
      const batches = await Promise.all([store.claim([draft()]), store.swap([change(receipt, 'pending')])])
      expect(batches.flat().length).toBe(2)
      await bench.server.cli('SCRIPT', 'FLUSH')
      expect((await store.get([receipt])).receipts[0]?.key).toBe(receipt.key)
    }
    await bench.server.cli('SCRIPT', 'FLUSH')
    await store.purge(10, HOUR_MS)
  })

  it('name every key they touch, all in one slot', async () => {
    const store = bench.open({ shards: 4 })
    await putAs(store, 'released', { forMs: SHORT_MS })
    const keys = (await bench.server.cli('KEYS', `*${bench.prefix}*`)).split('\n')
    expect(keys.filter((key) => !/^\{.+:\d\}|:layout$/.test(key))).toEqual([])
  })
})

describe('indexes', () => {
  it('have everything, though several stores bring them up to date while others write', async () => {
    const stores = [bench.open(), bench.open(), bench.open()]
    const writing = stores.map(async (store) => {
      const receipts: Receipt[] = []
      for (let i = 0; i < 10; i++) {
        const drafts = Array.from({ length: 40 }, () => draft())
        await store.claim(drafts)
        const found = (await store.get(drafts)).receipts as Receipt[]
        await store.swap(found.slice(0, 20).map((receipt) => change(receipt, 'succeeded')))
        receipts.push(...found)
      }
      return receipts
    })
    const reading = stores.map(async (store) => {
      for (let i = 0; i < 10; i++) await store.scan({ states: ['pending'], limit: 10 })
    })
    const written = (await Promise.all(writing)).flat()
    await Promise.all(reading)
    const [store] = stores as [Store]
    expect((await pages(store, {}, 100)).length).toBe(written.length)
    expect((await pages(store, { states: ['pending'] }, 100)).length).toBe(written.length / 2)
    const keys = (await pages(store, { states: ['succeeded'] }, 100)).map(({ key }) => key)
    expect(new Set(keys).size).toBe(written.length / 2)
  })

  it('hold nothing of what was forgotten', async () => {
    const store = bench.open()
    for (let i = 0; i < 30; i++) await putAs(store, 'failed', { forMs: SHORT_MS })
    await pages(store, {}, 10)
    await new Promise((resolve) => setTimeout(resolve, SHORT_MS * 2))
    expect((await store.purge(100, HOUR_MS)).receipts).toBe(30)
    await pages(store, {}, 10)
    for (const index of ['open', 'ends', 'all']) {
      expect(await bench.server.cli('ZCARD', `{${bench.prefix}:0}${index}`)).toBe('0')
    }
  })

  it('drop no event before they have seen it', async () => {
    const store = bench.open()
    const receipt = await put(store)
    await new Promise((resolve) => setTimeout(resolve, SHORT_MS))
    await store.purge(10, 0)
    expect(await pages(store, { states: ['pending'] }, 10)).toEqual([receipt])
    // Written after the indexes were brought up to date, and already old enough to be dropped.
    const late = await put(store)
    await new Promise((resolve) => setTimeout(resolve, SHORT_MS))
    const keys = ['ends', 'journal', 'indexed'].map((name) => `{${bench.prefix}:0}${name}`)
    await bench.server.cli('EVAL', DUE.text, 3, ...keys, 10, 10, 0)
    expect((await pages(store, { states: ['pending'] }, 10)).map(({ key }) => key)).toContain(late.key)
  })
})

describe('a batch in several cuts', () => {
  it('is carried out in its order, whichever scripts the server knows', async () => {
    const store = bench.open()
    await bench.server.cli('SCRIPT', 'FLUSH')
    await store.claim([draft()])
    const first = draft()
    const others = Array.from({ length: 511 }, () => draft())
    const results = await store.claim([first, ...others, draft({ key: first.key, token: 'late' })])
    expect([results[0]?.won, results.at(-1)?.won]).toEqual([true, false])
  })

  it('is changed in its order, whichever scripts the server knows', async () => {
    const store = bench.open()
    const receipt = await put(store)
    const large = await Promise.all(Array.from({ length: 3 }, () => put(store)))
    await bench.server.cli('SCRIPT', 'FLUSH')
    await store.swap([change(await put(store), 'succeeded')])
    const results = await store.swap([
      change(receipt, 'succeeded', { outcome: 'x' }),
      ...large.map((one) => change(one, 'succeeded', { outcome: 'x'.repeat(1_398_100) })),
      change(receipt, 'failed', { outcome: 'more than one script takes' }),
    ])
    expect(results.map(({ done }) => done)).toEqual([true, true, true, true, false])
  })
})

describe('what no engine asks for', () => {
  it('is written as well as it can be: a part of a millisecond is rounded', async () => {
    const store = bench.open()
    for (const wanted of [[draft({ forMs: 1_500.25 })], [draft({ forMs: 0.5 }), draft({ forMs: 0.5 })]]) {
      const claims = await store.claim(wanted)
      const { receipts } = await store.get(wanted)
      for (const [i, receipt] of receipts.entries()) {
        expect(receipt).toMatchObject({ token: wanted[i]?.token, at: claims[i]?.now })
        expect(Math.abs((receipt?.until ?? 0) - (receipt?.at ?? 0) - (wanted[i]?.forMs ?? 0))).toBeLessThan(1)
      }
    }
  })

  it('has a place of its own: an address of empty names, whoever asks first', async () => {
    vi.resetModules()
    const { digestOf } = await import('../../src/stores/redis/layout.js')
    const empty = { tenant: '', scope: '', key: '' }
    const asked = digestOf(empty)
    expect(asked).toHaveLength(22)
    expect(digestOf({ ...empty, key: 'k' })).not.toBe(asked)
    expect(digestOf(empty)).toBe(asked)
  })
})

describe('epochs', () => {
  it('start above those that were forgotten, though the clock of the server was ahead then', async () => {
    const store = bench.open()
    const ahead = (Date.now() + HOUR_MS) * 1_000
    const first = await putAs(store, 'released', { epoch: ahead, forMs: 0 })
    await new Promise((resolve) => setTimeout(resolve, 5))
    expect((await store.purge(10, HOUR_MS)).receipts).toBe(1)
    const again = await put(store, { key: first.key })
    expect(again.epoch).toBe(ahead + 1)
  })

  it('stay above what has been forgotten, alone and in a batch, also while the clock is behind', async () => {
    const store = bench.open()
    await store.get([])
    const floor = Date.now() * 1_000 + 3_600_000_000
    await bench.server.cli('SET', `{${bench.prefix}:0}floor`, String(floor))
    const claims = [...(await store.claim([draft()])), ...(await store.claim([draft(), draft()]))]
    expect(claims).toEqual(Array(3).fill(expect.objectContaining({ won: true, epoch: floor + 1 })))
  })

  it('stay above the one before, also while the clock is behind', async () => {
    const store = bench.open()
    const epoch = Date.now() * 1_000 + 3_600_000_000
    const receipt = await putAs(store, 'pending', { epoch })
    const taken = await store.swap([
      change(receipt, 'pending', { token: 'next', epoch: null, createdAt: null }),
    ])
    expect(taken).toMatchObject([{ done: true, epoch: epoch + 1 }])
  })
})

describe('without an audit log', () => {
  it('nothing is kept of the events that the indexes have seen', async () => {
    const store = bench.open({ audit: false })
    const receipt = await put(store)
    await store.record([{ ...eventOf(receipt), event: 'dedup_hit' }])
    await new Promise((resolve) => setTimeout(resolve, 5))
    await store.purge(100, HOUR_MS)
    expect((await store.audit({ limit: 10 })).events).toEqual([])
    expect(await pages(store, {}, 10)).toEqual([receipt])
  })
})

function eventOf({ tenant, scope, key, epoch, attempt, fingerprint }: Receipt) {
  return { tenant, scope, key, epoch, attempt, fingerprint, at: 0, state: null, count: 1 } as const
}
