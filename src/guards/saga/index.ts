/** `ibid/saga`: steps that are done once, and undone once if it comes to that. */
export type { Rollback, RollbackOptions, RolledBack, Skipped, Stuck, Undone } from './rollback.js'
export { createSaga, type Saga, type SagaOptions } from './saga.js'
export type { Step, StepAttempt, StepPolicy } from './step.js'
