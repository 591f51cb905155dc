/** The audit log leaves out what its receipt says. It must say the same as if it did not. */
import { describe, expect, it } from 'vitest'
import type { AuditEvent } from '../../src/core/audit.js'
import type { Store } from '../../src/store.js'
import { createClock } from '../../src/testing/clock.js'
import { addressOf } from '../../src/testing/store/claim.js'
import { change, draft, HOUR_MS, put, SHORT_MS, swapped } from '../../src/testing/store/drafts.js'
import { found } from '../../src/testing/store/bench.js'
import { countOf, newFile, open, tamper, valueOf } from './bench.js'

const DAY_MS = 24 * HOUR_MS

async function eventsOf(store: Store, query: Parameters<Store['audit']>[0]): Promise<readonly AuditEvent[]> {
  return (await store.audit(query)).events
}

function told(events: readonly AuditEvent[]): string[] {
  return events.map((one) => `${one.event} ${one.fingerprint}`)
}

function hit(of: { tenant: string; scope: string; key: string }, fingerprint: string): AuditEvent {
  const { tenant, scope, key } = of
  return {
    tenant,
    scope,
    key,
    event: 'dedup_hit',
    at: 0,
    state: null,
    epoch: 1,
    attempt: 1,
    fingerprint,
    count: 3,
  }
}

describe('the audit log', () => {
  it('[R50] keeps the payload that an event was about, when another takes the address', async () => {
    const store = open(newFile())
    const first = await put(store, { fingerprint: 'first' })
    await store.record([hit(first, 'first'), hit(first, 'conflicting')])
    await swapped(store, change(first, 'pending', { fingerprint: 'second', token: 'new', epoch: null }))
    await swapped(store, change(await found(store, first), 'succeeded'))
    const events = await eventsOf(store, { ...addressOf(first), limit: 10 })
    const fingerprints = events.map(({ fingerprint }) => fingerprint)
    expect(fingerprints).toEqual(['first', 'first', 'conflicting', 'second', 'second'])
  })

  it('[R50] tells the whole history of an address, over receipts that are gone', async () => {
    const file = newFile()
    const clock = createClock()
    const store = open(file, { clockOffset: clock.offset, generationSize: 4 })
    const address = { tenant: 'acme', scope: 'refund', key: 'again' }
    for (let life = 1; life <= 3; life++) {
      const receipt = await put(store, { ...address, fingerprint: `life-${life}` })
      await swapped(store, change(receipt, 'released', { forMs: SHORT_MS }))
      await store.claim(Array.from({ length: 7 }, () => draft({ state: 'released', forMs: SHORT_MS })))
      clock.advance(SHORT_MS * 2)
      expect((await store.purge(100, DAY_MS)).receipts).toBe(8)
      await store.record([hit(address, `after-${life}`)])
    }
    const history = [1, 2, 3].flatMap((life) => [
      ...['claimed', 'settled', 'expired'].map((event) => `${event} life-${life}`),
      `dedup_hit after-${life}`,
    ])
    for (const reader of [store, open(file, { clockOffset: clock.offset })]) {
      expect(told(await eventsOf(reader, { ...address, limit: 100 }))).toEqual(history)
      const all = await eventsOf(reader, { limit: 1_000 })
      expect(told(all.filter(({ key }) => key === 'again'))).toEqual(history)
      const paged: string[] = []
      let cursor: string | undefined
      for (let page = 0; page < 6; page++) {
        const read = await reader.audit({ ...address, limit: 3, cursor })
        paged.push(...told(read.events))
        cursor = read.cursor
      }
      expect(paged).toEqual(history)
    }
  })

  it('never gives an event the id of one that was dropped, so that a follower misses nothing', async () => {
    const file = newFile()
    const clock = createClock()
    const store = open(file, { clockOffset: clock.offset })
    await put(store)
    const { cursor } = await store.audit({ limit: 10 })
    for (let round = 1; round <= 3; round++) {
      clock.advance(DAY_MS)
      expect(await store.purge(10, HOUR_MS)).toEqual({ receipts: 0, events: round === 1 ? 1 : 2 })
      expect(await eventsOf(store, { limit: 10 })).toEqual([])
      await put(store)
      await put(store)
      expect(await eventsOf(store, { limit: 10, cursor })).toHaveLength(2)
    }
    // Two events, and the mark of the last one that was dropped.
    expect(countOf(tamper(file), 'ibid_audit')).toBe(3)
  })

  it('finds a note for every change, written by the file itself', async () => {
    const file = newFile()
    const store = open(file)
    await put(store)
    const db = tamper(file)
    db.exec('UPDATE ibid_receipt SET state = 4, event = 8')
    expect(valueOf(db, 'SELECT count(*) FROM ibid_audit WHERE event = 8 AND state = 4')).toBe(1)
  })
})
