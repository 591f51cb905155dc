/** The simulation, as its script and its tests see it. */
import type { Store } from '../../store.js'
import type { MemoryTx } from '../../stores/memory/index.js'
import { PLANTED, PLANTED_APART } from '../planted-stores.js'
import type { SimulatedPlant } from './world.js'

export { describeFound, type Found } from './report.js'
export { makeScenario, type Scenario } from './scenario.js'
export { explainSeed, replaySeed, simulate, type Simulated, type SimulateOptions } from './simulate.js'
export { type Ran, runScenario, type SimulatedPlant } from './world.js'

/** Faults that the simulation has to find, by name. What a planted store leaves alone is the store's own. */
export const PLANTS: Readonly<Record<string, SimulatedPlant>> = Object.fromEntries(
  Object.entries({ ...PLANTED, ...PLANTED_APART }).map(([name, plant]): [string, SimulatedPlant] => [
    name,
    (store, distance) => ({ ...store, ...(plant(store, distance) as Store<MemoryTx>) }),
  ]),
)
