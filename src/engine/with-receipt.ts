/**
 * The effect's own error, with the receipt on it. A verdict can be thrown more than once: one that says what came
 * of another claim stays as it is, and the caller gets a copy; and so with all that cannot be written on.
 */
import { type IbidError, NotExecuted, OutcomeUnknown, Rejected } from '../core/errors.js'
import type { ReceiptView } from '../core/receipt.js'

export function withReceipt(error: IbidError, receipt: ReceiptView): IbidError {
  const isTaken = isVerdict(error) && error.receipt !== undefined && !isSameClaim(error.receipt, receipt)
  const told = isTaken || Object.isFrozen(error) ? copyOf(error) : error
  return Object.assign(told, { receipt, replayed: false })
}

export function isSameClaim(a: ReceiptView, b: ReceiptView): boolean {
  return a.key === b.key && a.scope === b.scope && a.tenant === b.tenant && a.epoch === b.epoch
}

function isVerdict(error: IbidError): boolean {
  return error instanceof Rejected || error instanceof NotExecuted || error instanceof OutcomeUnknown
}

function copyOf(error: IbidError): IbidError {
  const copy = Object.create(Object.getPrototypeOf(error) as object) as IbidError
  for (const [name, described] of Object.entries(Object.getOwnPropertyDescriptors(error))) {
    Object.defineProperty(copy, name, { ...described, writable: true, configurable: true })
  }
  return copy
}
