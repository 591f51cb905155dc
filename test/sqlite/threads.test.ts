/**
 * Which thread writes: few rows at a time on the caller's, a crowd on the worker's, and back again. Wherever it was,
 * what one has written the other finds. The compiled store, with every message to a thread counted.
 */
import { syncBuiltinESMExports } from 'node:module'
import workerThreads from 'node:worker_threads'
import { beforeEach, describe, expect, it } from 'vitest'
import { change, draft, put } from '../../src/testing/store/drafts.js'
import type { Store } from '../../src/store.js'
import { countOf, newFile, open, tamper } from './bench.js'

const sent: unknown[][] = []
const Real = workerThreads.Worker
workerThreads.Worker = class extends Real {
  override postMessage(message: unknown, transfer?: never): void {
    if (Array.isArray(message)) sent.push(message)
    super.postMessage(message, transfer)
  }
}
syncBuiltinESMExports()
beforeEach(() => void (sent.length = 0))

const verbsSent = (): unknown[] => sent.map(([, verb]) => verb)
const crowd = (size = 40) => Array.from({ length: size }, () => draft())

/** Many lone calls in a row, so that the caller's thread is worth bringing up to date. */
async function loneCalls(store: Store, times: number): Promise<void> {
  for (let i = 0; i < times; i++) await store.get([draft()])
}

/** A slow disk sends lone calls to the worker: then nothing here could be told apart. */
async function untilNear(store: Store): Promise<void> {
  for (const endMs = performance.now() + 40_000; performance.now() < endMs;) {
    sent.length = 0
    await loneCalls(store, 1)
    if (sent.length === 0) return
  }
  throw new Error("no lone call was ever made on the caller's thread")
}

describe('the thread of a write', () => {
  it("is the caller's for a few rows in a new file: no worker is started", async () => {
    const store = open(newFile())
    await put(store)
    expect(verbsSent()).toEqual([])
  })

  it("is the worker's for a crowd", async () => {
    const store = open(newFile())
    await store.claim(crowd())
    expect(verbsSent()).toEqual(['claim'])
  })

  it("is the caller's again after the crowd has gone, and knows what the crowd wrote", async () => {
    const store = open(newFile(), { generationSize: 100 })
    const drafts = crowd(1_000)
    for (let at = 0; at < drafts.length; at += 100) await store.claim(drafts.slice(at, at + 100))
    await untilNear(store)
    for (const taken of [drafts[0], drafts[500], drafts[999]] as const) {
      const [claimed] = await store.claim([
        { ...(taken as never as ReturnType<typeof draft>), token: 'late' },
      ])
      expect(claimed).toMatchObject({ won: false, found: { token: taken?.token } })
    }
    const [fresh] = await store.claim([draft()])
    expect(fresh?.won).toBe(true)
  })

  it('may change between a claim and its settlement', async () => {
    const store = open(newFile(), { generationSize: 100 })
    const near = await put(store)
    await store.claim(crowd(400))
    const [far] = await store.swap([change(near, 'succeeded'), ...crowd(10).map((next) => toSwap(next))])
    expect(far?.done).toBe(true)
    const claimed = crowd(10)
    await store.claim(claimed)
    await untilNear(store)
    const { receipts } = await store.get(claimed.slice(0, 1))
    const [settled] = await store.swap([change(receipts[0] as never, 'succeeded')])
    expect(settled?.done).toBe(true)
    expect((await store.get(claimed.slice(0, 1))).receipts[0]?.state).toBe('succeeded')
  })

  it('leaves the event loop its turns, however many calls follow each other', async () => {
    const store = open(newFile(), { thread: 'caller' })
    const loop = { turned: false }
    setTimeout(() => (loop.turned = true), 1)
    for (const endMs = performance.now() + 30_000; !loop.turned && performance.now() < endMs;)
      await put(store)
    expect(loop.turned).toBe(true)
  })

  it('does not keep generations from being sealed', async () => {
    const file = newFile()
    const store = open(file, { generationSize: 20 })
    const stored = []
    for (let i = 0; i < 50; i++) stored.push(await put(store))
    const db = tamper(file)
    await expect.poll(() => countOf(db, 'ibid_generation'), { timeout: 40_000 }).toBe(2)
    expect((await store.get(stored)).receipts).toEqual(stored)
  })
})

function toSwap(next: ReturnType<typeof draft>): Parameters<Store['swap']>[0][number] {
  return { expect: { token: next.token, state: 'pending' }, next }
}
