/**
 * The SQLite store is a store, with its commits on a thread of their own and on the caller's. The compiled one: a
 * thread, like a process, reads no TypeScript.
 */
import { join } from 'node:path'
import { describe, it } from 'vitest'
import { sqliteStore } from '../../dist/stores/sqlite/index.js'
import { testStore } from '../../src/testing/index.js'
import { transact } from '../fixtures/sqlite-store.mjs'

const module = new URL('../fixtures/sqlite-store.mjs', import.meta.url)

const WHERE = {
  auto: 'on both threads as it needs them',
  worker: "on the worker's thread",
  caller: "on the caller's thread",
}

for (const thread of ['auto', 'worker', 'caller'] as const) {
  // Generations so small that the tests' few receipts fill some of them.
  const settings = { thread, generationSize: 16 }
  const suite = testStore(
    ({ clock, directory }) =>
      sqliteStore(join(directory, 'ibid.db'), { ...settings, clockOffset: clock.offset }),
    { time: 'clock', module, transact },
  )
  describe(`SQLite store, ${WHERE[thread]}`, () => {
    for (const { subject, title, run } of suite) it(`${subject}: ${title}`, run)
  })
}
