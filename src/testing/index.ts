/** `ibid/testing`: what proves a store, a handler or a policy, with any test runner. */
export type { Verb } from './around.js'
export { createClock, type RunningClock, stillClock, type TestClock } from './clock.js'
export {
  CRASH_POINTS,
  CRASH_POLICIES,
  type CrashCell,
  crashMatrix,
  type CrashMatrixOptions,
  type JudgedCell,
} from './crash/crash-matrix.js'
export { crashStep, type CrashPoint, crashStore, type Step } from './crash/crash-store.js'
export { violationOf } from './crash/expectation.js'
export type { CrashPolicy, Recovered } from './crash/victim.js'
export { type Fault, type FaultKind, type FaultPlan, type FaultyStore, faultyStore } from './faulty-store.js'
export {
  type Action,
  describeStuck,
  type Held,
  type Linearized,
  linearize,
  type Operation,
} from './history/linearize.js'
export { recordHistories, type Recording, type RecordOptions } from './history/record.js'
export type { HammerHandler } from './hammer/child.js'
export {
  hammer,
  type HammerOptions,
  type HammerReport,
  type HammerTarget,
  type HammerVerdict,
} from './hammer/hammer.js'
export { type Ledger, ledger, type LedgerLine } from './ledger.js'
export { type Random, random } from './random.js'
export {
  describeFound,
  explainSeed,
  type Found,
  makeScenario,
  PLANTS,
  type Ran,
  replaySeed,
  runScenario,
  type Scenario,
  simulate,
  type Simulated,
  type SimulatedPlant,
  type SimulateOptions,
} from './simulation/index.js'
export type { OpenStore, StoreContext, TestStoreOptions, TransactAccess } from './store/bench.js'
export type { ChildContext } from './store/child.js'
export { type StoreTest, testStore } from './store/index.js'
export { tally, type TallyEvent } from './tally.js'
