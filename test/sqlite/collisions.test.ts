/**
 * A hash only says where to look. These tests take its help away: all addresses have one hash, or every generation
 * is named for every hash. The answers must stay the same. The sources run on this thread here, to be tampered with.
 */
import { join, dirname } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { Receipt } from '../../src/core/receipt.js'
import { Filter } from '../../src/stores/sqlite/filter.js'
import { Hasher } from '../../src/stores/sqlite/hash.js'
import { sqliteStore } from '../../src/stores/sqlite/index.js'
import { Tail } from '../../src/stores/sqlite/tail.js'
import { random } from '../../src/testing/random.js'
import { change, draft, put } from '../../src/testing/store/drafts.js'
import { testStore } from '../../src/testing/index.js'
import { batchesOf, newFile } from './bench.js'

afterEach(() => {
  vi.restoreAllMocks()
})

const TWIN = { key: 'twin', token: 'same', fingerprint: 'same' }

async function claimsAndSwaps(): Promise<void> {
  const store = sqliteStore(join(dirname(newFile()), 'ibid.db'), { generationSize: 25 })
  try {
    const drafts = Array.from({ length: 120 }, () => draft())
    for (const batch of batchesOf(drafts, 40)) {
      expect((await store.claim(batch)).every(({ won }) => won)).toBe(true)
    }
    const late = await store.claim(drafts.map((one) => ({ ...one, token: 'late' })))
    expect(late.map((one) => !one.won && one.found.token)).toEqual(drafts.map(({ token }) => token))
    const one = await put(store)
    const [done] = await store.swap([change(one, 'succeeded')])
    expect(done?.done).toBe(true)
    const { receipts } = await store.get([...drafts, one, draft()])
    // Nothing but the address tells these two apart.
    const twins = []
    for (const tenant of ['a', 'b', 'c']) twins.push(await put(store, { ...TWIN, tenant }))
    expect((await store.swap([change(twins[1] as Receipt, 'failed')]))[0]?.done).toBe(true)
    const told = (await store.get(twins)).receipts.map((receipt) => receipt?.state)
    expect(told).toEqual(['pending', 'failed', 'pending'])
    expect(receipts.map((receipt) => receipt?.state)).toEqual([
      ...drafts.map(() => 'pending'),
      'succeeded',
      undefined,
    ])
  } finally {
    await store.close()
  }
}

describe('addresses are compared', () => {
  it('[R1] also where all of them have the same hash', async () => {
    vi.spyOn(Hasher.prototype, 'hash').mockImplementation(function (this: Hasher) {
      this.high = 7
      this.low = 7
    })
    await claimsAndSwaps()
  })

  it('[R1] also where every generation may hold them', async () => {
    const find = Filter.prototype.find
    const spy = vi.spyOn(Filter.prototype, 'find').mockImplementation(function (
      this: Filter,
      high,
      low,
      into,
    ) {
      into.push(...this.generations())
      const named: number[] = []
      find.call(this, high, low, named)
      expect(into).toEqual(expect.arrayContaining(named))
    })
    await claimsAndSwaps()
    expect(spy).toHaveBeenCalled()
  })

  const suite = testStore(
    ({ clock, directory }) =>
      sqliteStore(join(directory, 'ibid.db'), { clockOffset: clock.offset, generationSize: 3 }),
    { time: 'clock' },
  ).filter(({ subject }) => ['claim', 'names', 'swap'].includes(subject))
  for (const { name, run } of suite) {
    it(`in generations of three: ${name}`, async () => {
      vi.spyOn(Hasher.prototype, 'hash').mockImplementation(function (this: Hasher) {
        this.high = 0
        this.low = 0
      })
      await run()
    })
  }
})

describe('the tail', () => {
  it('finds all ids of a hash, also after it has grown, and none of another', () => {
    const { next } = random(3)
    let tail = new Tail(1_000)
    const expected = new Map<string, number[]>()
    for (let id = 1_001; id < 21_000; id++) {
      const [high, low] = [(next() * 40) | 0, ((next() - 0.5) * 2 ** 31) & 0xfff]
      tail.add(high, low, id)
      expected.set(`${high},${low}`, [...(expected.get(`${high},${low}`) ?? []), id])
    }
    for (const base of [1_000, 15_000]) {
      tail = tail.from(base)
      const wrong: unknown[] = []
      for (const [hash, ids] of expected) {
        const found: number[] = []
        tail.find(...(hash.split(',').map(Number) as [number, number]), found)
        const wanted = ids.filter((id) => id > base)
        if (new Set([...found, ...wanted]).size !== wanted.length) wrong.push({ hash, found, wanted })
      }
      expect(wrong).toEqual([])
    }
  })
})

describe('the filter', () => {
  it('never leaves out a generation that holds a hash, and seldom names one that does not', () => {
    const { next } = random(4)
    const hash = (): [number, number] => [(next() * 2 ** 32) | 0, (next() * 2 ** 32) | 0]
    const filter = new Filter()
    const held = new Map<number, [number, number][]>()
    for (let generation = 100; generation < 140; generation++) {
      const hashes = Array.from({ length: 2_000 }, hash)
      const slot = filter.open(generation)
      for (const [high, low] of hashes) filter.add(slot, high, low)
      held.set(generation, hashes)
    }
    for (const gone of [103, 131, 139]) {
      filter.remove(gone)
      held.delete(gone)
    }
    expect(filter.generations()).toEqual([...held.keys()])
    const wrong: unknown[] = []
    for (const [generation, hashes] of held) {
      for (const [high, low] of hashes) {
        const named: number[] = []
        filter.find(high, low, named)
        if (!named.includes(generation) || named.includes(131)) wrong.push({ generation, named })
      }
    }
    expect(wrong).toEqual([])
    let vain = 0
    for (let i = 0; i < 20_000; i++) {
      const named: number[] = []
      filter.find(...hash(), named)
      vain += named.length
    }
    expect(vain).toBeLessThan(20)
  })

  it('gives the place of a generation that has gone to the next one', () => {
    const filter = new Filter()
    filter.add(filter.open(1), 5, 6)
    filter.remove(1)
    filter.open(2)
    const named: number[] = []
    filter.find(5, 6, named)
    expect([filter.generations(), named]).toEqual([[2], []])
  })
})

describe('the hash', () => {
  it('depends on its key and on every unit of a text', () => {
    const texts = [
      '',
      '\0',
      '\0\0',
      'a',
      'b',
      'ab',
      'ba',
      'a\0',
      'aa',
      'aaa',
      '\u00e9',
      'e\u0301',
      '\u{1F600}',
    ]
    const seen = new Set<string>()
    for (const key of [0, 1, -1, 0x12345678]) {
      const hasher = new Hasher(key, 9)
      for (const text of texts) {
        hasher.hash(text)
        seen.add(`${hasher.high},${hasher.low}`)
      }
    }
    expect(seen.size).toBe(4 * texts.length)
  })
})
