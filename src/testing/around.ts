/** A store with something done around each of its calls: what the faulty store and the crashing one are made of. */
import type { Address, Draft } from '../core/receipt.js'
import type { Store } from '../store.js'

export const VERBS = [
  'claim',
  'swap',
  'get',
  'scan',
  'purge',
  'record',
  'audit',
  'check',
  'transact',
] as const
export type Verb = (typeof VERBS)[number]

export interface Surrounded<T> {
  readonly verb: Verb
  /** The receipts that it is about, where it names them; with what they shall become. */
  readonly about?: readonly (Address & Partial<Draft>)[]
  readonly run: () => Promise<T>
  /** Carries out the first half of a batch of claims or swaps. */
  readonly runHalf?: () => Promise<unknown>
}

export type Around = <T>(call: Surrounded<T>) => Promise<T>

export function around<Tx>(inner: Store<Tx>, surround: Around): Store<Tx> {
  const { name, maxBatch, lanes, maxOutcome } = inner
  return {
    name,
    maxBatch,
    lanes,
    maxOutcome,
    claim: async (wanted) =>
      await surround({
        verb: 'claim',
        about: wanted,
        run: async () => await inner.claim(wanted),
        runHalf: async () => await inner.claim(half(wanted)),
      }),
    swap: async (changes) =>
      await surround({
        verb: 'swap',
        about: changes.map(({ next }) => next),
        run: async () => await inner.swap(changes),
        runHalf: async () => await inner.swap(half(changes)),
      }),
    get: async (addresses) =>
      await surround({ verb: 'get', about: addresses, run: async () => await inner.get(addresses) }),
    scan: async (query) => await surround({ verb: 'scan', run: async () => await inner.scan(query) }),
    purge: async (limit, auditMs) =>
      await surround({ verb: 'purge', run: async () => await inner.purge(limit, auditMs) }),
    record: async (events) => await surround({ verb: 'record', run: async () => await inner.record(events) }),
    audit: async (query) => await surround({ verb: 'audit', run: async () => await inner.audit(query) }),
    check: async () => await surround({ verb: 'check', run: async () => await inner.check() }),
    close: async () => await inner.close(),
    ...(inner.watch ? { watch: inner.watch.bind(inner) } : {}),
    ...(inner.transact ? { transact: surroundTransact(inner.transact.bind(inner), surround) } : {}),
  }
}

function surroundTransact<Tx>(
  inner: NonNullable<Store<Tx>['transact']>,
  surround: Around,
): NonNullable<Store<Tx>['transact']> {
  return async (work) => await surround({ verb: 'transact', run: async () => await inner(work) })
}

function half<T>(batch: readonly T[]): readonly T[] {
  return batch.slice(0, Math.ceil(batch.length / 2))
}
