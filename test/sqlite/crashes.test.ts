/** Crashes: of a process in the middle of its batches, and of the thread that has the file open. */
import { syncBuiltinESMExports } from 'node:module'
import { setTimeout as sleep } from 'node:timers/promises'
import workerThreads from 'node:worker_threads'
import { describe, expect, it } from 'vitest'
import { draft, put } from '../../src/testing/store/drafts.js'
import { tally } from '../../src/testing/tally.js'
import { asRow } from '../../dist/stores/sqlite/open.js'
import { countOf, newFile, open, tamper, valueOf } from './bench.js'
import { start } from './spawn.js'

const started: workerThreads.Worker[] = []
const Real = workerThreads.Worker
workerThreads.Worker = class extends Real {
  constructor(...given: ConstructorParameters<typeof Real>) {
    super(...given)
    started.push(this)
  }
}
syncBuiltinESMExports()

describe('a process that is killed', () => {
  it('[R61] leaves whole batches, each with its notes, and all that it acknowledged', async () => {
    const file = newFile()
    const store = open(file)
    await put(store)
    const acknowledged: string[] = []
    for (let kill = 0; kill < 6; kill++) {
      const child = start('load', file, { batch: 40, generationSize: 100 })
      while (child.lines.length < 4 + kill * 3) await sleep(2)
      child.process.kill('SIGKILL')
      tally({ kills: 1 })
      await child.ended
      acknowledged.push(...child.lines.map(({ number }) => `${child.process.pid}:${String(number)}`))
    }
    const db = tamper(file)
    const batches = new Map<string, number>()
    for (const got of db.prepare("SELECT key FROM ibid_receipt WHERE key LIKE '%:%:%'").all()) {
      const key = String(asRow(got)?.[0])
      const batch = key.slice(0, key.lastIndexOf(':'))
      batches.set(batch, (batches.get(batch) ?? 0) + 1)
    }
    expect(new Set(batches.values())).toEqual(new Set([40]))
    for (const batch of acknowledged) expect(batches.has(batch)).toBe(true)
    expect(countOf(db, 'ibid_audit')).toBe(countOf(db, 'ibid_receipt'))
    expect(valueOf(db, 'PRAGMA integrity_check')).toBe('ok')
    await put(store)
  })
})

describe('a thread that stops', () => {
  it('[R12] rejects what waited, and the next call gets a new one', async () => {
    const file = newFile()
    const store = open(file, { thread: 'worker' })
    await put(store)
    const db = tamper(file)
    db.exec('BEGIN IMMEDIATE')
    const waiting = [store.claim([draft()]), store.claim([draft()])]
    await sleep(20)
    const worker = started.at(-1) as workerThreads.Worker
    // No message that it knows: it throws, and nobody catches it.
    worker.postMessage(7, [])
    for (const settled of await Promise.allSettled(waiting)) {
      expect(settled).toMatchObject({
        status: 'rejected',
        reason: { code: 'STORE_UNAVAILABLE', retriable: true },
      })
    }
    db.exec('COMMIT')
    await put(store)
    expect(started.at(-1)).not.toBe(worker)
  })

  it('closes after a crash', async () => {
    const store = open(newFile(), { thread: 'worker' })
    await put(store)
    const worker = started.at(-1) as workerThreads.Worker
    worker.postMessage(7, [])
    await new Promise((resolve) => worker.once('exit', resolve))
    await store.close()
    await expect(store.claim([draft()])).rejects.toMatchObject({ code: 'CLOSED' })
  })
})

describe('a program that is done', () => {
  it.each(['auto', 'worker', 'caller'])(
    'is not kept alive by a store that it did not close (%s)',
    async (thread) => {
      const { lines, ended } = start('leave', newFile(), { thread })
      expect(await ended).toBe(0)
      expect(lines).toEqual([{ won: true }])
    },
  )
})
