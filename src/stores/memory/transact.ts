/**
 * Transactions of the memory store: writes are kept aside and applied together in one synchronous step.
 * Optimistic: a transaction that relied on something another one changed in the meantime applies nothing.
 */
import { IbidError } from '../../core/errors.js'
import type { AuditNote } from '../../core/audit.js'
import { addressId, type Receipt, stamp } from '../../core/receipt.js'
import type { Swap, Swapped } from '../../store.js'
import { isAsExpected } from './conditions.js'
import { put, type Tables } from './tables.js'

/** Where the caller's writes go: they are kept if the transaction commits, and only then. */
export interface MemoryTx {
  get(name: string): unknown
  set(name: string, value: unknown): void
  delete(name: string): void
}

interface Change {
  readonly receipt: Receipt
  readonly note: AuditNote
}

export async function transact<T>(
  tables: Tables,
  step: () => number,
  work: (tx: MemoryTx, swap: (change: Swap) => Promise<Swapped>) => Promise<T>,
): Promise<T> {
  step()
  /** What the transaction saw when it first looked. */
  const seenValues = new Map<string, unknown>()
  const seenReceipts = new Map<string, Receipt>()
  const writes = new Map<string, unknown>()
  const changes = new Map<string, Change[]>()

  function look(name: string): void {
    if (!seenValues.has(name)) seenValues.set(name, tables.values.get(name))
  }

  const tx: MemoryTx = {
    get(name) {
      look(name)
      return writes.has(name) ? writes.get(name) : tables.values.get(name)
    },
    set(name, value) {
      look(name)
      writes.set(name, value)
    },
    delete(name) {
      look(name)
      writes.set(name, undefined)
    },
  }

  async function swap({ expect, next }: Swap): Promise<Swapped> {
    const now = step()
    const id = addressId(next)
    const stored = tables.entries.get(id)?.receipt
    const found = changes.get(id)?.at(-1)?.receipt ?? stored
    if (!stored || !found || !isAsExpected(found, expect)) return { done: false, now }
    if (!seenReceipts.has(id)) seenReceipts.set(id, stored)
    const receipt = stamp(next, now, found.epoch)
    changes.set(id, [...(changes.get(id) ?? []), { receipt, note: next.audit }])
    return { done: true, now, epoch: receipt.epoch }
  }

  const result = await work(tx, swap)

  step()
  for (const [name, value] of seenValues) if (!Object.is(tables.values.get(name), value)) throw overtaken()
  for (const [id, receipt] of seenReceipts) if (tables.entries.get(id)?.receipt !== receipt) throw overtaken()
  for (const { receipt, note } of [...changes.values()].flat()) put(tables, receipt, note)
  for (const [name, value] of writes) {
    if (value === undefined) tables.values.delete(name)
    else tables.values.set(name, value)
  }
  return result
}

function overtaken(): IbidError {
  return new IbidError('another transaction changed what this one relied on; nothing of this one was kept', {
    code: 'STORE_UNAVAILABLE',
    retriable: true,
    action: 'repeat the same call with the same key',
  })
}
