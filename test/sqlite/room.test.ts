/** Room: a full disk refuses whole batches, and the store goes on when there is room again. Nothing grows for ever. */
import { statSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { createClock } from '../../src/testing/clock.js'
import { draft, HOUR_MS, SHORT_MS } from '../../src/testing/store/drafts.js'
import { countOf, newFile, open, tamper, valueOf } from './bench.js'

const DAY_MS = 24 * HOUR_MS

describe('room', () => {
  it('[R12] refuses what has no room, keeps nothing of it, and goes on after a purge', async () => {
    const file = newFile()
    const clock = createClock()
    const store = open(file, { maxBytes: 400_000, clockOffset: clock.offset, generationSize: 64 })
    const outcome = JSON.stringify({ value: 'x'.repeat(1_000) })
    let kept = 0
    const refused = await (async () => {
      for (;;) {
        await store.claim(
          Array.from({ length: 20 }, () => draft({ state: 'released', outcome, forMs: SHORT_MS })),
        )
        kept += 20
      }
    })().catch((error: unknown) => error)
    expect(refused).toMatchObject({ code: 'STORE_UNAVAILABLE', retriable: true })
    expect((refused as Error).message).toMatch(/ibid\.db cannot grow.*database or disk is full/)
    expect(kept).toBeGreaterThan(100)
    const db = tamper(file)
    expect([countOf(db, 'ibid_receipt'), countOf(db, 'ibid_audit')]).toEqual([kept, kept])
    expect((await store.scan({ limit: 10_000 })).receipts).toHaveLength(kept)
    clock.advance(SHORT_MS * 2)
    while ((await store.purge(60, DAY_MS)).receipts > 0);
    const [claimed] = await store.claim([draft()])
    expect(claimed?.won).toBe(true)
    expect(valueOf(db, 'PRAGMA integrity_check')).toBe('ok')
  })

  it('[R52] does not grow while receipts come and go', async () => {
    const file = newFile()
    const clock = createClock()
    const store = open(file, { clockOffset: clock.offset, generationSize: 500 })
    const sizes: number[] = []
    const db = tamper(file)
    for (let round = 0; round < 12; round++) {
      for (let batch = 0; batch < 10; batch++) {
        await store.claim(Array.from({ length: 100 }, () => draft({ state: 'released', forMs: SHORT_MS })))
      }
      clock.advance(DAY_MS)
      await store.purge(2_000, HOUR_MS)
      sizes.push(Number(valueOf(db, 'PRAGMA page_count')))
    }
    expect(Math.max(...sizes.slice(4))).toBeLessThanOrEqual(Math.max(...sizes.slice(0, 4)) * 1.1)
    expect(statSync(`${file}-wal`).size).toBeLessThan(20_000_000)
    expect(valueOf(db, 'PRAGMA integrity_check')).toBe('ok')
  })

  it('lets claims pass while it purges', async () => {
    const clock = createClock()
    const store = open(newFile(), { clockOffset: clock.offset })
    for (let batch = 0; batch < 20; batch++) {
      await store.claim(Array.from({ length: 250 }, () => draft({ state: 'released', forMs: SHORT_MS })))
    }
    clock.advance(SHORT_MS * 2)
    const order: string[] = []
    const purge = store.purge(5_000, DAY_MS).then(({ receipts }) => order.push(`purged ${receipts}`))
    for (let i = 0; i < 3; i++) order.push(`claimed ${(await store.claim([draft()])).length}`)
    await purge
    expect(order).toEqual(['claimed 1', 'claimed 1', 'claimed 1', 'purged 5000'])
  })
})
