/**
 * Random commands, faults and schedules against the model. One seed makes everything: IBID_SEED=… runs it again,
 * and what fast-check prints on a failure (seed and path) leads to the smallest story that fails.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { memoryStore } from '../../src/stores/memory/index.js'
import { sqliteStore } from '../../src/stores/sqlite/index.js'
import type { Store } from '../../src/store.js'
import { tally, type TestClock } from '../../src/testing/index.js'
import { type Command, createWorld, ENDS, KEYS } from './model.js'
import { PLANTED } from '../../src/testing/planted-stores.js'

const SEED = Number(process.env['IBID_SEED'] ?? 20_300_101)

const worker = fc.nat({ max: 2 })
const key = fc.nat({ max: KEYS.length - 1 })
const ms = fc.oneof(fc.nat({ max: 50 }), fc.nat({ max: 3_000 }), fc.constantFrom(1_000, 1_001, 5_000, 61_000))
const call = fc.record({
  kind: fc.constant('call' as const),
  worker,
  key,
  payload: fc.oneof({ weight: 5, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.constant(1) }),
  end: fc.oneof(
    { weight: 3, arbitrary: fc.constant('value' as const) },
    { weight: 4, arbitrary: fc.constantFrom(...ENDS) },
  ),
  ms: fc.oneof(fc.constant(0), fc.nat({ max: 3_000 })),
})
const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 8, arbitrary: call },
  { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom('pass' as const, 'jump' as const), ms }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('crash' as const), worker }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('sweep' as const), worker }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('outage' as const), worker, ms: fc.nat({ max: 4_000 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('resolve' as const),
      worker,
      key,
      as: fc.constantFrom('succeeded' as const, 'released' as const),
    }),
  },
)

async function check(
  open: (clock: TestClock) => Store,
  runs: number,
  seed = SEED,
): Promise<{ failed: boolean; report: string; values: number }> {
  const story = fc.array(command, { minLength: 3, maxLength: 30, size: 'max' })
  const faults = fc.constantFrom(0, 0.02, 0.1)
  let values = 0
  const property = fc.asyncProperty(story, fc.nat(), faults, async (commands, chance, share) => {
    const world = createWorld(open, chance, share)
    for (const one of commands) await world.run(one)
    const problems = await world.end()
    values += world.values()
    if (problems.length > 0) throw new RangeError(problems.join('; '))
  })
  const details = await fc.check(property, { seed, numRuns: runs })
  tally({ interleavings: details.numRuns })
  return { failed: details.failed, report: fc.defaultReportMessage(details) ?? '', values }
}

test('[R2, R4, R5, R7, R8, R61] random stories on the memory store break no promise', async () => {
  console.log(`IBID_SEED=${SEED}`)
  const { report, values } = await check((clock) => memoryStore({ clock }), 3_000)
  expect(report).toBe('')
  expect(values).toBeGreaterThan(6_000)
})

test('[R2, R4, R5, R7, R8, R61] random stories on the SQLite store break no promise', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'ibid-model-'))
  const opened: Store[] = []
  const { report, values } = await check((clock) => {
    const store = onFile(join(directory, `${opened.length}.db`), clock)
    opened.push(store)
    return store
  }, 150)
  await Promise.all(opened.map((store) => store.close()))
  await rm(directory, { recursive: true, force: true })
  expect(report).toBe('')
  expect(values).toBeGreaterThan(300)
})

/** A SQLite store whose clock is set to the virtual one before each call. */
function onFile(file: string, clock: TestClock): Store {
  const clockOffset = new Float64Array(new SharedArrayBuffer(8))
  const store = sqliteStore(file, { clockOffset, thread: 'caller' }) as Store
  const set = <In, Out>(call: (given: In) => Promise<Out>): ((given: In) => Promise<Out>) => {
    return (given) => {
      clockOffset[0] = clock.now() - Date.now()
      return call(given)
    }
  }
  return {
    ...store,
    claim: set(store.claim),
    swap: set(store.swap),
    get: set(store.get),
    scan: set(store.scan),
  }
}

test.each(Object.entries(PLANTED))('the model finds %s', async (_name, plant) => {
  const { failed } = await check((clock) => plant(memoryStore({ clock })), 1_500)
  expect(failed).toBe(true)
})
