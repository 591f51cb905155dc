/**
 * Every interleaving of two workers over one store, with time passing, crashes and lost answers at every point.
 * How many there are is fixed: a change of these numbers means that the engine talks to its store differently.
 */
import { describe, expect, test } from 'vitest'
import { tally } from '../../src/testing/index.js'
import { explore } from './explorer.js'
import { PLANTED } from './planted-stores.js'
import { runTwoWorkers, type Setting } from './two-workers.js'
import { problemsOf } from './verdict.js'

interface Explored {
  readonly runs: number
  readonly problems: readonly string[]
  /** Runs by how many effects landed. */
  readonly effects: readonly number[]
  /** Every end that was seen. */
  readonly ends: ReadonlySet<string>
}

async function exploreAll(setting: Setting): Promise<Explored> {
  const problems: string[] = []
  const effects: number[] = []
  const ends = new Set<string>()
  const runs = await explore(async (choose) => {
    const result = await runTwoWorkers(setting, choose)
    const { landings, receipt, calls, errors, values } = result
    effects[landings.length] = (effects[landings.length] ?? 0) + 1
    ends.add(JSON.stringify([landings.length, receipt?.state, receipt?.attempt, calls, errors, values]))
    for (const problem of problemsOf(result, setting))
      problems.push(`${problem} (${result.trace.join(', ')})`)
  })
  tally({ interleavings: runs })
  return { runs, problems, effects: Array.from(effects, (count) => count ?? 0), ends }
}

/** The first problem, without looking at the rest. */
async function findProblem(setting: Setting): Promise<string | undefined> {
  let found: string | undefined
  await explore(async (choose) => {
    const result = await runTwoWorkers(setting, choose)
    found ??= problemsOf(result, setting)[0]
    if (found !== undefined) throw new FoundIt()
  }).catch((error: unknown) => {
    if (!(error instanceof FoundIt)) throw error
  })
  return found
}

class FoundIt extends Error {}

const NONE = { timePasses: 0, crashes: 0, lostAnswers: 0 }
const CRASH = { ...NONE, timePasses: 1, crashes: 1 }
const LOST = { ...NONE, timePasses: 1, lostAnswers: 1 }
const TWICE = { ...NONE, timePasses: 2 }

describe('[R8, R61] every interleaving of two workers keeps the promises', () => {
  test.each([
    ['hold', 'a crash anywhere, and time passing anywhere', CRASH, 858],
    ['hold', 'a lost answer anywhere, and time passing anywhere', LOST, 719],
    ['hold', 'time passing anywhere, twice', TWICE, 2_019],
    ['retry', 'a crash anywhere, and time passing anywhere', CRASH, 1_503],
    ['retry', 'a lost answer anywhere, and time passing anywhere', LOST, 1_274],
    ['check', 'a crash anywhere, and time passing anywhere', CRASH, 1_689],
    ['check', 'a lost answer anywhere, and time passing anywhere', LOST, 1_495],
    ['check', 'time passing anywhere, twice', TWICE, 7_827],
  ] as const)('[R7, R8, R61] %s: %s', async (policy, _faults, faults, runs) => {
    const explored = await exploreAll({ ...faults, policy })
    expect(explored.problems.slice(0, 3)).toEqual([])
    expect(explored.runs).toBe(runs)
  })
})

test('[R7, R8] check with a downstream that fences on the epoch: never two effects, zombies included', async () => {
  const setting: Setting = { ...CRASH, policy: 'check' }
  const free = await exploreAll(setting)
  expect(free.effects[2]).toBeGreaterThan(0)
  const fenced = await exploreAll({ ...setting, fences: true })
  expect(fenced.problems).toEqual([])
  expect(fenced.effects.slice(2)).toEqual([])
})

test('[R61] leaving out what makes no difference leaves out no end', async () => {
  const setting: Setting = { ...NONE, policy: 'hold', timePasses: 1 }
  const some = await exploreAll(setting)
  const all = await exploreAll({ ...setting, everyPoint: true })
  expect(all.problems).toEqual([])
  expect(all.runs).toBeGreaterThan(some.runs * 2)
  expect(all.ends).toEqual(some.ends)
})

describe('the proof finds what it has to', () => {
  test.each(Object.entries(PLANTED))('%s', async (_name, plant) => {
    let found: string | undefined
    for (const policy of ['hold', 'retry', 'check'] as const) {
      found ??= await findProblem({ ...NONE, timePasses: 1, policy, plant })
    }
    expect(found).toBeDefined()
  })
})
