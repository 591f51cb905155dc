/**
 * Scenario after scenario, each from a seed of its own, until enough store operations were simulated. A seed that
 * breaks a promise is made small, and told.
 */
import type { Violation } from './books.js'
import type { Counts } from './process.js'
import type { Found } from './report.js'
import { makeScenario, type Scenario } from './scenario.js'
import { shrink } from './shrink.js'
import { noCounts, type Ran, runScenario, type SimulatedPlant } from './world.js'

export interface SimulateOptions {
  /** The first seed; the others follow it. */
  readonly seed: number
  /** How many store operations at least. */
  readonly operations: number
  /** From one seed to the next; more than 1 where several processes share the work. Default 1. */
  readonly stride?: number
  readonly plant?: SimulatedPlant | undefined
  /** Stop at the first seed that breaks a promise. */
  readonly untilFound?: boolean
  readonly onProgress?: (sofar: Simulated) => void
}

export interface Simulated {
  readonly seeds: number
  readonly counts: Counts
  /** All that went wrong on purpose. */
  readonly faults: number
  readonly violations: readonly { readonly seed: number; readonly violation: Violation }[]
}

export async function simulate(options: SimulateOptions): Promise<Simulated> {
  const { operations, plant, stride = 1, untilFound = false, onProgress } = options
  const counts = noCounts()
  const violations: { seed: number; violation: Violation }[] = []
  let seeds = 0
  // The stacks of errors that are expected would cost more than all the rest.
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  const sofar = (): Simulated => ({ seeds, counts, faults: faultsIn(counts), violations })
  for (let seed = options.seed; counts.operations < operations; seed += stride) {
    const ran = await runScenario(makeScenario(seed), { plant })
    seeds++
    for (const name of Object.keys(counts) as (keyof Counts)[]) counts[name] += ran.counts[name]
    if (ran.violation) violations.push({ seed, violation: ran.violation })
    if (ran.violation && untilFound) break
    onProgress?.(sofar())
  }
  Error.stackTraceLimit = stackTraceLimit
  return sofar()
}

function faultsIn({ operations: _asked, ...faults }: Counts): number {
  return Object.values(faults).reduce((sum, count) => sum + count, 0)
}

/** The same seed again, with everything that happened. */
export async function replaySeed(seed: number, plant?: SimulatedPlant): Promise<Ran> {
  return await runScenario(makeScenario(seed), { plant, trace: 'lines' })
}

/** What is left of a seed that breaks a promise; undefined where it breaks none. */
export async function explainSeed(seed: number, plant?: SimulatedPlant): Promise<Found | undefined> {
  const whole = makeScenario(seed)
  const { violation } = await runScenario(whole, { plant })
  if (!violation) return undefined
  const breaks = async (candidate: Scenario): Promise<boolean> =>
    (await runScenario(candidate, { plant })).violation?.promise === violation.promise
  const scenario = await shrink(whole, breaks)
  const small = await runScenario(scenario, { plant, trace: 'lines' })
  return {
    seed,
    violation: small.violation ?? violation,
    scenario,
    stepsBefore: whole.steps.length,
    trace: small.trace,
  }
}
