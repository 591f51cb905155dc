/** The memory store is a store. It is not durable and has one process, so nothing is proved about those. */
import { describe, expect, it } from 'vitest'
import { type MemoryTx, memoryStore } from '../../src/stores/memory/index.js'
import { stillClock, testStore } from '../../src/testing/index.js'

describe('memory store', () => {
  const suite = testStore(({ clock }) => memoryStore({ clock }), {
    time: 'clock',
    durable: false,
    transact: {
      write: (tx: MemoryTx, name, value) => tx.set(name, value),
      read: (tx: MemoryTx, name) => tx.get(name),
    },
  })
  for (const { subject, title, run } of suite) it(`${subject}: ${title}`, run)

  it('warns that it is not for production, and does not refuse to work', async () => {
    const { findings } = await memoryStore().check()
    expect(findings.map(({ level, code }) => [level, code])).toEqual([['warning', 'NOT_DURABLE']])
  })

  it('takes its time from the clock it is given, and from nothing else', async () => {
    const clock = stillClock(1_000)
    const store = memoryStore({ clock })
    expect((await store.get([])).now).toBe(1_000)
    clock.advance(5)
    expect((await store.get([])).now).toBe(1_005)
  })
})
