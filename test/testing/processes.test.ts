/** The parts of testStore that need other processes can fail too: over a store that no other process can share. */
import { expect, it } from 'vitest'
import { memoryStore } from '../../src/stores/memory/index.js'
import { testStore } from '../../src/testing/index.js'

const suite = testStore(() => memoryStore(), {
  module: new URL('../fixtures/memory-store.mjs', import.meta.url),
  processes: 2,
})

/** The end of a test's name, and what it has to say. */
const caught = {
  'lets one process win an address': 'exactly one claim of an address must win',
  'lets one process win each of fifty addresses, in any order': 'exactly one winner',
  'lets one process take a receipt over': 'exactly one swap of a receipt must be made',
  'has everything after a close': 'must have every receipt',
  'loses nothing that it acknowledged to a process that was killed': 'must survive a SIGKILL',
  'lets one of many claims at once win': 'exactly one must win',
}

for (const [name, message] of Object.entries(caught)) {
  it(`catches a store that others do not share: "${name}"`, async () => {
    const [test, ...more] = suite.filter((one) => one.name.endsWith(name))
    expect(more).toEqual([])
    await expect(test?.run()).rejects.toThrow(message)
  })
}

it('waits in real time where the store has a clock of its own', async () => {
  const real = testStore(() => memoryStore(), { durable: false, time: 'server' })
  const waiting = real.filter(
    ({ name }) => name.includes('ended') || name.includes('one time from all methods'),
  )
  expect(waiting.length).toBeGreaterThan(1)
  for (const { run } of waiting) await run()
  const shifted = real.find(({ name }) => name.includes('is not moved by the clock of the calling process'))
  await expect(shifted?.run()).rejects.toThrow("not with the caller's")
})
