/**
 * The effect's own error, with the receipt on it. An error can be thrown more than once: one that cannot be written on,
 * or that says already what came of another claim, stays as it is, and the caller gets a copy.
 */
import type { IbidError } from '../core/errors.js'
import type { ReceiptView } from '../core/receipt.js'

export function withReceipt(error: IbidError, receipt: ReceiptView): IbidError {
  const isFree = error.receipt === undefined || isSameClaim(error.receipt, receipt)
  const told = isFree && !Object.isFrozen(error) ? error : copyOf(error)
  return Object.assign(told, { receipt, replayed: false })
}

export function isSameClaim(a: ReceiptView, b: ReceiptView): boolean {
  return a.key === b.key && a.scope === b.scope && a.tenant === b.tenant && a.epoch === b.epoch
}

function copyOf(error: IbidError): IbidError {
  const copy = Object.create(Object.getPrototypeOf(error) as object) as IbidError
  for (const [name, described] of Object.entries(Object.getOwnPropertyDescriptors(error))) {
    Object.defineProperty(copy, name, { ...described, writable: true, configurable: true })
  }
  return copy
}
