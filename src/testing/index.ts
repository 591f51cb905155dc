/** `ibid/testing`: what proves a store, a handler or a policy, with any test runner. */
export { createClock, type RunningClock, stillClock, type TestClock } from './clock.js'
export { type Ledger, ledger, type LedgerLine } from './ledger.js'
export { type Random, random } from './random.js'
export type { OpenStore, StoreContext, TestStoreOptions, TransactAccess } from './store/bench.js'
export type { ChildContext } from './store/child.js'
export { type StoreTest, testStore } from './store/index.js'
export { tally, type TallyEvent } from './tally.js'
