/**
 * The suite can fail. Each store here has one fault; the test that is named for it has to notice, with a message
 * that says what is expected of a store. A sound store passes them all: test/stores/memory.test.ts.
 */
import assert from 'node:assert/strict'
import { describe, expect, it } from 'vitest'
import { type MemoryTx, memoryStore } from '../../src/stores/memory/index.js'
import { testStore } from '../../src/testing/index.js'
import type { BrokenStore } from './broken/broken-store.js'
import { claims } from './broken/claims.js'
import { keeping } from './broken/keeping.js'
import { lookingBack } from './broken/looking-back.js'
import { swaps } from './broken/swaps.js'

function suiteOver({ make }: Pick<BrokenStore, 'make'>): ReturnType<typeof testStore> {
  return testStore(
    ({ clock }) => {
      const sound = memoryStore({ clock })
      return { ...sound, ...make(sound, clock) }
    },
    {
      time: 'clock',
      durable: false,
      transact: {
        write: (tx: MemoryTx, name, value) => tx.set(name, value),
        read: (tx: MemoryTx, name) => tx.get(name),
      },
    },
  )
}

describe('testStore catches a store that', () => {
  for (const broken of [...claims, ...swaps, ...keeping, ...lookingBack]) {
    it(`${broken.fault}: "${broken.caughtBy}"`, async () => {
      const tests = suiteOver(broken).filter(({ name }) => name.endsWith(broken.caughtBy))
      expect(tests.map(({ name }) => name)).toHaveLength(1)
      const failure: unknown = await tests[0]?.run().then(
        () => undefined,
        (error: unknown) => error,
      )
      assert.ok(
        failure instanceof assert.AssertionError,
        `not caught, or not by an assertion: ${String(failure)}`,
      )
      expect(failure.message.split('\n')[0]).toMatch(/\bmust\b/)
    })
  }

  it('offers transactions that nobody tests', async () => {
    const suite = testStore(({ clock }) => memoryStore({ clock }), { time: 'clock', durable: false })
    const offered = suite.find(({ name }) => name.includes('if and only if'))
    await expect(offered?.run()).rejects.toThrow('must be tested with options.transact')
  })
})

describe('the suite over a store', () => {
  it('names every test once', () => {
    const names = suiteOver({ make: () => ({}) }).map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
  })
})
