/** The simulation itself: what a small run of it has to come to, and that one seed is one story. */
import { expect, test } from 'vitest'
import { tally } from '../../src/testing/index.js'
import { makeScenario, replaySeed, runScenario, simulate } from '../../src/testing/simulation/index.js'
import { call, world } from './small-worlds.js'

const SEED = Number(process.env['IBID_SEED'] ?? 1)
const OPERATIONS = 12_000

test('[R2, R4, R5, R7, R8, R14, R61] thousands of operations and faults break no promise', async () => {
  console.log(`IBID_SEED=${SEED}`)
  const { seeds, counts, faults, violations } = await simulate({ seed: SEED, operations: OPERATIONS })
  tally({ interleavings: seeds })
  expect(violations).toEqual([])
  expect(faults).toBeGreaterThan(OPERATIONS / 10)
  const { operations: _asked, ...kinds } = counts
  for (const [kind, count] of Object.entries(kinds)) expect(count, kind).toBeGreaterThan(0)
})

test('one seed is one story: the same digest of the trace, however often it is run', async () => {
  const digests = new Set<string | undefined>()
  for (let seed = SEED; seed < SEED + 20; seed++) {
    const [once, again] = [await replaySeed(seed), await replaySeed(seed)]
    expect(again.digest).toBe(once.digest)
    expect(again.trace).toEqual(once.trace)
    digests.add(once.digest)
  }
  expect(digests.size).toBe(20)
})

test('a scenario is nothing but data: written down and read again, it is the same story', async () => {
  const scenario = makeScenario(SEED)
  const read = JSON.parse(JSON.stringify(scenario)) as typeof scenario
  const [one, other] = [
    await runScenario(scenario, { trace: 'digest' }),
    await runScenario(read, { trace: 'digest' }),
  ]
  expect(other.digest).toBe(one.digest)
})

test('[R7] hold, retry, check and transact: a crash right after the effect, and what each comes to', async () => {
  const ends = { hold: 1, retry: 2, check: 1, transact: 1 }
  for (const [policy, effects] of Object.entries(ends)) {
    const steps = [
      call('p1', 0, { end: 'hangs' }),
      { kind: 'crash', process: 'p1', atMs: 100, skip: 0, restartMs: 10, losesRequests: true } as const,
      call('p2', 3_000),
    ]
    const scenario = world({ policy: policy as keyof typeof ends, timeoutMs: 60_000 }, steps)
    const { violation, trace } = await runScenario(scenario, { trace: 'lines' })
    expect(violation, policy).toBeUndefined()
    expect(trace.join('\n')).toMatch(/p1 crashes/)
    const landed = trace.filter((line) => /effect of k1 happens|hears of its transact/.test(line))
    expect(landed.length, policy).toBe(effects)
  }
})

test('a clock of its own, a pause and a resolve are part of the world', async () => {
  const scenario = world({}, [
    call('p1', 0, { end: 'unknown' }),
    { kind: 'resolve', process: 'p2', atMs: 100, key: 'k1', as: 'succeeded' },
    { kind: 'pause', process: 'p2', atMs: 101, skip: 0, ms: 400 },
    call('p2', 900),
  ])
  const { violation, trace } = await runScenario(scenario, { trace: 'lines' })
  expect(violation).toBeUndefined()
  const story = trace.join('\n')
  expect(story).toMatch(/p2 stands still for 400 ms/)
  expect(story).toMatch(/p2's caller of k1 has k1\/said/)
})
