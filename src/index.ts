/** The public API of `ibid`, listed by hand. */
export type { AuditEvent, AuditName } from './core/audit.js'
export type { Duration } from './core/duration.js'
export { IbidError, type IbidCode, NotExecuted, OutcomeUnknown, Rejected } from './core/errors.js'
export type { Attempt, Check, CheckResult, Policy } from './core/policy.js'
export type { Address, ReceiptView, State } from './core/receipt.js'
export type { AuditSink } from './engine/auditor.js'
export type { Swept } from './engine/housekeeping.js'
export type { Effect, Once } from './engine/once.js'
export type { Claim, Settlement } from './engine/remote.js'
export type { Resolution, Resolver } from './engine/resolve.js'
export type { Timers } from './engine/timers.js'
export type { Work } from './engine/transact.js'
export {
  type ClaimPolicy,
  createIbid,
  type Ibid,
  type IbidOptions,
  type Intent,
  type ListQuery,
  type LogQuery,
  type ReceiptDetail,
  type TransactPolicy,
  type Where,
} from './ibid.js'
