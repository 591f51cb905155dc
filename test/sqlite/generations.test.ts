/** Generations: whatever was sealed, by whom and when, an address has one receipt, and it is found. */
import { describe, expect, it } from 'vitest'
import type { Draft } from '../../src/core/receipt.js'
import { draft, HOUR_MS, put, SHORT_MS } from '../../src/testing/store/drafts.js'
import { createClock } from '../../src/testing/clock.js'
import { random } from '../../src/testing/random.js'
import { batchesOf, countOf, newFile, open, tamper, valueOf } from './bench.js'
import { run } from './spawn.js'

const DAY_MS = 24 * HOUR_MS

describe('generations', () => {
  it('[R2][R60] lets one process win each address while all of them seal', async () => {
    const file = newFile()
    const keys = Array.from({ length: 1_500 }, (_, i) => `key-${i}`)
    const told = await Promise.all(
      Array.from({ length: 6 }, (_, seed) =>
        run('claim', file, { keys: random(seed).shuffle(keys), batch: 50, generationSize: 40 + seed }),
      ),
    )
    const won = told.flatMap((one) => one['won'] as string[])
    expect(won.toSorted()).toEqual(keys.toSorted())
    const db = tamper(file)
    expect(countOf(db, 'ibid_receipt')).toBe(1_500)
    expect(countOf(db, 'ibid_generation')).toBeGreaterThan(20)
  })

  it('[R2][R60] lets one process win each address while all of them claim one at a time', async () => {
    const file = newFile()
    const keys = Array.from({ length: 200 }, (_, i) => `key-${i}`)
    const told = await Promise.all(
      Array.from({ length: 6 }, (_, seed) =>
        run('claim', file, { keys: random(seed).shuffle(keys), batch: 1, generationSize: 15 + seed }),
      ),
    )
    const won = told.flatMap((one) => one['won'] as string[])
    expect(won.toSorted()).toEqual(keys.toSorted())
    const db = tamper(file)
    expect(countOf(db, 'ibid_receipt')).toBe(200)
    expect(countOf(db, 'ibid_audit')).toBe(200)
    expect(valueOf(db, 'SELECT max(id) FROM ibid_receipt')).toBe(200)
  })

  it('finds every receipt again, in the memory of a store that has just opened the file', async () => {
    const file = newFile()
    const first = open(file, { generationSize: 64 })
    const drafts = Array.from({ length: 1_000 }, () => draft())
    for (const batch of batchesOf(drafts, 100)) await first.claim(batch)
    const second = open(file, { generationSize: 1_000_000 })
    const { receipts } = await second.get(drafts)
    expect(receipts.map((receipt) => receipt?.token)).toEqual(drafts.map(({ token }) => token))
    const again = await second.claim(drafts)
    expect(again.filter(({ won }) => won)).toEqual([])
  })

  it('changes a receipt where it is, long after it was sealed', async () => {
    const file = newFile()
    const store = open(file, { generationSize: 32 })
    const old = await put(store)
    for (let i = 0; i < 10; i++) await store.claim(Array.from({ length: 20 }, () => draft()))
    const { at: _at, until: _until, ...kept } = old
    const [done] = await store.swap([
      {
        expect: { token: old.token, state: 'pending' },
        next: {
          ...kept,
          state: 'succeeded',
          outcome: '{"value":1}',
          forMs: null,
          audit: { event: 'settled' },
        },
      },
    ])
    expect(done?.done).toBe(true)
    expect((await store.get([old])).receipts[0]).toMatchObject({ state: 'succeeded', until: null })
  })

  it('[R52] drops a generation when its receipts and their log are gone, and never takes another for it', async () => {
    const file = newFile()
    const clock = createClock()
    const options = { generationSize: 16, clockOffset: clock.offset }
    const [store, other] = [open(file, options), open(file, options)]
    const db = tamper(file)
    const seen: unknown[] = []
    for (let round = 0; round < 4; round++) {
      const drafts = Array.from({ length: 50 }, () => draft({ state: 'released', forMs: SHORT_MS }))
      for (const batch of batchesOf(drafts, 10)) await store.claim(batch)
      expect((await other.get(drafts)).receipts.filter(Boolean)).toHaveLength(50)
      seen.push(valueOf(db, 'SELECT max(id) FROM ibid_generation'))
      clock.advance(SHORT_MS * 2)
      expect((await store.purge(1_000, DAY_MS)).receipts).toBe(50)
      expect((await other.get(drafts)).receipts.filter(Boolean)).toHaveLength(0)
      const { tenant, scope, key } = drafts[0] as Draft
      const { events } = await other.audit({ tenant, scope, key, limit: 10 })
      expect(events.map(({ event }) => event)).toEqual(['claimed', 'expired'])
      clock.advance(DAY_MS * 2)
      expect((await store.purge(1_000, DAY_MS)).events).toBe(100)
      expect(countOf(db, 'ibid_past')).toBe(0)
      expect([countOf(db, 'ibid_generation'), countOf(db, 'ibid_run')]).toEqual([0, 0])
    }
    expect(new Set(seen).size).toBe(4)
  })

  it('never gives an id twice, so that nobody reads one receipt for another', async () => {
    const file = newFile()
    const clock = createClock()
    const [store, other] = [
      open(file, { clockOffset: clock.offset }),
      open(file, { clockOffset: clock.offset }),
    ]
    const gone = draft({ state: 'released', forMs: 1 })
    await store.claim([gone])
    await other.get([gone])
    clock.advance(10)
    expect((await store.purge(10, DAY_MS)).receipts).toBe(1)
    const next = draft()
    await store.claim([next])
    expect((await other.get([gone, next])).receipts.map((receipt) => receipt?.key)).toEqual([
      undefined,
      next.key,
    ])
    expect((await other.claim([{ ...next, token: 'late' }]))[0]?.won).toBe(false)
  })
})
