/**
 * Two webhooks of one program that share receipts without being meant to: one vendor, no endpoint names, different
 * handlers. Each event would reach only one of them. That is said aloud once; it cannot be seen from a receipt.
 */
import type { Settings } from './options.js'

const made = new WeakMap<object, Map<string, unknown>>()

export function warnShared<P, T, Tx>(ibid: object, settings: Settings<P, T, Tx>): void {
  const { scope, tenant, handle, transact, enqueue } = settings
  const work: unknown = handle ?? transact ?? enqueue
  const id = typeof tenant === 'string' ? `${tenant} ${scope}` : scope
  const known = made.get(ibid) ?? new Map<string, unknown>()
  made.set(ibid, known)
  if (known.has(id) && known.get(id) !== work) {
    process.emitWarning(
      `two webhooks share the receipts of ${scope}: an event that both get is handled by one of them only. Give each an endpoint name`,
      { type: 'IbidWarning', code: 'IBID_SHARED_ENDPOINT' },
    )
  }
  known.set(id, work)
}
