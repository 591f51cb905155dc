/** Locks: one writer at a time; whoever waits is served or refused, and never writes half of anything. */
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createIbid } from '../../dist/index.js'
import type { Receipt } from '../../src/core/receipt.js'
import type { Store } from '../../src/store.js'
import { createClock } from '../../src/testing/clock.js'
import { change, draft, HOUR_MS, put } from '../../src/testing/store/drafts.js'
import { countOf, newFile, open, tamper } from './bench.js'

const CREATE = 'CREATE TABLE IF NOT EXISTS mine (a TEXT)'

describe('a lock of another writer', () => {
  it('is waited for', async () => {
    const file = newFile()
    const store = open(file)
    await put(store)
    const db = tamper(file)
    db.exec('BEGIN IMMEDIATE')
    const claim = store.claim([draft()])
    expect(await Promise.race([claim, sleep(100)])).toBeUndefined()
    // Readers do not wait for a writer.
    expect((await store.get([draft()])).receipts).toEqual([undefined])
    db.exec('COMMIT')
    expect((await claim)[0]?.won).toBe(true)
  })

  it('[R12] is waited for no longer than busyMs, and then nothing is written', async () => {
    const file = newFile()
    const store = open(file, { busyMs: 60 })
    await put(store)
    const db = tamper(file)
    db.exec('BEGIN IMMEDIATE')
    const claims = [store.claim([draft(), draft()]), store.claim([draft()])]
    for (const settled of await Promise.allSettled(claims)) {
      expect(settled).toMatchObject({
        status: 'rejected',
        reason: { code: 'STORE_UNAVAILABLE', retriable: true },
      })
      expect(settled.status === 'rejected' && String(settled.reason)).toMatch(/locked by another writer/)
    }
    db.exec('COMMIT')
    expect(countOf(db, 'ibid_receipt')).toBe(1)
    await put(store)
  })

  it('makes what waits behind it one transaction', async () => {
    const file = newFile()
    const store = open(file)
    const receipts = await Promise.all(Array.from({ length: 10 }, () => put(store)))
    const db = tamper(file)
    db.exec('BEGIN IMMEDIATE')
    const calls = receipts.flatMap((receipt) => [
      store.claim([draft(), draft()]),
      store.swap([change(receipt, 'succeeded')]),
      store.record([{ ...receipt, event: 'dedup_hit', count: 1 }]),
    ])
    await sleep(50)
    const before = commitsIn(file)
    db.exec('ROLLBACK')
    await Promise.all(calls)
    expect(commitsIn(file) - before).toBe(1)
  })
})

describe('a claim in the transaction that forgot its address', () => {
  const ways = {
    purge: (store: Store) => store.purge(10, HOUR_MS),
    forget: (store: Store, receipt: Receipt) => store.forget([receipt]),
  }

  it.each(Object.entries(ways))('[R8] has an epoch above the one before: %s', async (_name, forget) => {
    const file = newFile()
    const clock = createClock()
    const store = open(file, { thread: 'worker', clockOffset: clock.offset })
    clock.advance(HOUR_MS)
    const first = await put(store)
    // The clock was ahead, and is set right: by its time alone, the next epoch would be below the first.
    clock.advance(-HOUR_MS)
    await store.swap([change(first, 'released', { forMs: 0 })])
    clock.advance(1)
    const db = tamper(file)
    db.exec('BEGIN IMMEDIATE')
    const forgetting = forget(store, first)
    const claiming = store.claim([draft({ key: first.key })])
    await sleep(50)
    db.exec('ROLLBACK')
    const [, [again]] = await Promise.all([forgetting, claiming])
    expect(again).toMatchObject({ won: true })
    expect(again?.won && again.epoch).toBeGreaterThan(first.epoch)
  })
})

describe('transact', () => {
  it('[R10] lets claims of others wait until it has committed', async () => {
    const file = newFile()
    const store = open(file)
    const receipt = await put(store)
    const order: string[] = []
    let claim: Promise<unknown> | undefined
    await store.transact?.(async (tx, swap) => {
      tx.run(CREATE)
      claim = store.claim([draft()]).then(() => order.push('claimed'))
      await sleep(50)
      expect((await store.get([receipt])).receipts[0]?.state).toBe('pending')
      tx.run('INSERT INTO mine VALUES (?)', 'x')
      expect((await swap(change(receipt, 'succeeded'))).done).toBe(true)
      order.push('done')
    })
    await claim
    expect(order).toEqual(['done', 'claimed'])
    expect((await store.get([receipt])).receipts[0]?.state).toBe('succeeded')
  })

  it('runs one after the other, under a load of claims', async () => {
    const store = open(newFile())
    await store.transact?.(async (tx) => void tx.run(CREATE))
    const stop = new AbortController()
    const load = Promise.all(
      Array.from({ length: 4 }, async () => {
        while (!stop.signal.aborted) await store.claim([draft()])
      }),
    )
    let inside = 0
    await Promise.all(
      Array.from({ length: 12 }, async (_, i) =>
        store.transact?.(async (tx) => {
          expect(++inside).toBe(1)
          tx.run('INSERT INTO mine VALUES (?)', String(i))
          await sleep(2)
          inside--
        }),
      ),
    )
    stop.abort()
    await load
    const rows = await store.transact?.(async (tx) => tx.all('SELECT a FROM mine'))
    expect(rows?.map(({ a }) => Number(a)).toSorted((a, b) => a - b)).toEqual([...Array(12).keys()])
  })

  it('does not wait for ever behind claims that came after it', async () => {
    const file = newFile()
    const store = open(file)
    await put(store)
    const db = tamper(file)
    for (let round = 0; round < 25; round++) {
      db.exec('BEGIN IMMEDIATE')
      const order: string[] = []
      const transaction = store.transact?.(async () => void order.push('transaction'))
      await sleep(5)
      const claims = [1, 2, 3].map(() => store.claim([draft()]).then(() => order.push('claim')))
      await sleep(5)
      db.exec('COMMIT')
      await Promise.all([transaction, ...claims])
      expect(order[0]).toBe('transaction')
    }
  })

  it('makes a claim inside of it wait for itself, and refuses it in the end', async () => {
    const store = open(newFile(), { busyMs: 80 })
    await put(store)
    const inside = store.transact?.(async () => await store.claim([draft()]))
    await expect(inside).rejects.toThrow(/locked by another writer/)
    await put(store)
  })

  it('is over when its work has returned', async () => {
    const file = newFile()
    const store = open(file)
    const receipt = await put(store)
    let late: (() => unknown)[] = []
    await store.transact?.(async (tx, swap) => {
      tx.run(CREATE)
      late = [() => tx.run('INSERT INTO mine VALUES (1)'), () => swap(change(receipt, 'failed'))]
    })
    for (const use of late) await expect(Promise.resolve().then(use)).rejects.toThrow(/transaction has ended/)
    expect(countOf(tamper(file), 'mine')).toBe(0)
  })

  it('[R10] keeps nothing of work that goes back to a savepoint once its receipt is being settled', async () => {
    const file = newFile()
    const store = open(file)
    await store.transact?.(async (tx) => void tx.run(CREATE))
    const receipt = await put(store)
    const work = store.transact?.(async (tx, swap) => {
      tx.run('INSERT INTO mine VALUES (1)')
      tx.run('SAVEPOINT optional')
      expect((await swap(change(receipt, 'succeeded'))).done).toBe(true)
      expect(() => tx.run('ROLLBACK TO optional')).toThrow(/transaction has ended/)
    })
    await expect(work).rejects.toThrow(/transaction has ended; nothing was written/)
    expect(countOf(tamper(file), 'mine')).toBe(0)
    expect((await store.get([receipt])).receipts[0]?.state).toBe('pending')
  })

  it('[R10] keeps nothing when SQLite has ended the transaction by itself', async () => {
    const file = newFile()
    const store = open(file, { maxBytes: 300_000 })
    await store.transact?.(async (tx) => void tx.run(CREATE))
    const work = store.transact?.(async (tx) => {
      tx.run('INSERT INTO mine VALUES (?)', 'before')
      try {
        for (;;) tx.run('INSERT INTO mine VALUES (?)', 'x'.repeat(50_000))
      } catch {
        // A caller who takes a full disk lightly.
      }
      tx.run('INSERT INTO mine VALUES (?)', 'after')
    })
    await expect(work).rejects.toThrow(/cannot grow/)
    expect(countOf(tamper(file), 'mine')).toBe(0)
  })

  it('[R10] that hangs is rolled back when its time is up: others write, and close returns', async () => {
    const file = newFile()
    const store = open(file, { busyMs: 300 })
    const ibid = createIbid({ store, tenant: 'acme', housekeeping: false })
    let late: (() => unknown) | undefined
    const hung = ibid.transact(
      { scope: 's', key: 'hung' },
      (tx) => {
        tx.run(CREATE)
        late = () => tx.run(CREATE)
        return new Promise(() => {})
      },
      { lease: 2_000, timeout: 500 },
    )
    await expect(hung).rejects.toMatchObject({ code: 'UPSTREAM_TIMEOUT', receipt: { state: 'released' } })
    expect(late).toThrow(/transaction has ended/)
    expect((await ibid.once({ scope: 's', key: 'other' }, () => 'ran')).value).toBe('ran')
    await ibid.close()
  })

  it('leaves a caller the savepoints', async () => {
    const file = newFile()
    const store = open(file)
    await store.transact?.(async (tx) => {
      tx.run(CREATE)
      tx.run('SAVEPOINT s')
      tx.run("INSERT INTO mine VALUES ('x')")
      tx.run('ROLLBACK TO s')
      expect(() => tx.run('INSERT INTO nowhere VALUES (1)')).toThrow(/no such table/)
      tx.run("INSERT INTO mine VALUES ('y')")
    })
    expect(countOf(tamper(file), 'mine')).toBe(1)
  })

  it.each(['COMMIT', ' rollback', 'BEGIN', 'end;', '-- at last\n;/* now */ COMMIT'])(
    'keeps its own %j',
    async (sql) => {
      const store = open(newFile())
      const work = store.transact?.(async (tx) => {
        tx.run(CREATE)
        tx.run(sql)
      })
      await expect(work).rejects.toThrow(/is not for the work inside a transaction/)
      const tables = await store.transact?.(async (tx) =>
        tx.all("SELECT 1 FROM sqlite_schema WHERE name = 'mine'"),
      )
      expect(tables).toEqual([])
    },
  )
})

/** Frames of the log that end a transaction: 24 bytes of header, then 24 bytes and a page each. */
function commitsIn(file: string): number {
  const log = readFileSync(`${file}-wal`)
  const frame = 24 + log.readUInt32BE(8)
  const salt = log.subarray(16, 24)
  let commits = 0
  for (let at = 32; at + frame <= log.length; at += frame) {
    if (log.subarray(at + 8, at + 16).equals(salt) && log.readUInt32BE(at + 4) !== 0) commits++
  }
  return commits
}
