/**
 * Every interleaving of two workers over one store, with time passing, crashes and lost answers at every point.
 * How many there are is fixed: a change of these numbers means that the engine talks to its store differently.
 */
import { describe, expect, test } from 'vitest'
import { tally } from '../../src/testing/index.js'
import { explore } from './explorer.js'
import { PLANTED } from '../../src/testing/planted-stores.js'
import { runTwoWorkers, type Setting } from './two-workers.js'
import { problemsOf } from './verdict.js'

interface Explored {
  readonly runs: number
  readonly problems: readonly string[]
  /** Runs by how many effects landed. */
  readonly effects: readonly number[]
}

async function exploreAll(setting: Setting): Promise<Explored> {
  const problems: string[] = []
  const effects: number[] = []
  const runs = await explore(async (choose) => {
    const result = await runTwoWorkers(setting, choose)
    const { landings } = result
    effects[landings.length] = (effects[landings.length] ?? 0) + 1
    for (const problem of problemsOf(result, setting))
      problems.push(`${problem} (${result.trace.join(', ')})`)
  })
  tally({ interleavings: runs })
  return { runs, problems, effects: Array.from(effects, (count) => count ?? 0) }
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
/** Nobody waits, and each point is one where the other worker may be put in between. */
const POINTS = { ...NONE, timePasses: 1, wait: 0, everyPoint: true } as const

describe('[R8, R61] every interleaving of two workers keeps the promises', () => {
  test.each([
    ['hold', 'a crash anywhere, and time passing anywhere', CRASH, 2_304],
    ['hold', 'a lost answer anywhere, and time passing anywhere', LOST, 2_274],
    ['hold', 'duplicates that do not wait', POINTS, 2_262],
    ['retry', 'a crash anywhere, and time passing anywhere', CRASH, 3_707],
    ['retry', 'a lost answer anywhere, and time passing anywhere', LOST, 3_598],
    ['retry', 'duplicates that do not wait', POINTS, 3_157],
    ['check', 'a crash anywhere, and time passing anywhere', CRASH, 4_085],
    ['check', 'a lost answer anywhere, and time passing anywhere', LOST, 4_817],
    ['check', 'duplicates that do not wait', POINTS, 3_399],
  ] as const)('[R7, R8, R61] %s: %s', async (policy, _faults, faults, runs) => {
    const explored = await exploreAll({ ...faults, policy })
    expect(explored.problems.slice(0, 3)).toEqual([])
    expect(explored.runs).toBe(runs)
  })
})

test('[R7, R8] check with a downstream that fences on the epoch: never two effects, zombies included', async () => {
  const setting: Setting = { ...NONE, timePasses: 1, policy: 'check' }
  const free = await exploreAll(setting)
  expect(free.effects[2]).toBeGreaterThan(0)
  const fenced = await exploreAll({ ...setting, fences: true })
  expect(fenced.problems).toEqual([])
  expect(fenced.effects.slice(2)).toEqual([])
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
