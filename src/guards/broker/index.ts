/** `ibid/broker`: tools with a contract, called once. */
export { type Answer, type Broker, type BrokerOptions, createBroker, type ToolCard } from './broker.js'
export type { CallContext } from './context.js'
export {
  type Contract,
  defineTool,
  type Downstream,
  type EffectClass,
  type FailureKind,
  type Retry,
  type Tool,
  type ToolCall,
} from './contract.js'
export { type ContractData, type Executor, readContracts, toolFromData } from './data.js'
export { oneHttpCall, PartialSuccess } from './failure.js'
export type { FieldProblem } from './field.js'
export type { InputSchema, StandardSchema } from './input.js'
export { type Rung, type StepKey, stepKey } from './ladder.js'
export { type Finding, lintContract } from './lint.js'
export type { ModelObservation } from './model.js'
export type { IdempotencyMarks, Observation, ObservationError } from './observation.js'
export type { Pace } from './one-try.js'
export { stepIds, type StepIds } from './workflows.js'
