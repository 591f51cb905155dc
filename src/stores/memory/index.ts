/**
 * The reference store, and the oracle that the others are compared with: a map, in one process, forgotten with it.
 * Every method does its work in one synchronous step, so nothing can come between a comparison and its write.
 * It has no timers and no time but its clock.
 */
import { readNumber } from '../../core/cursor.js'
import { closed } from '../../core/errors.js'
import { onlyKnown } from '../../core/known.js'
import { addressId, type Draft, stamp } from '../../core/receipt.js'
import type { Claimed, Store, StoreReport, Swap, Swapped } from '../../store.js'
import { isAsExpected, isAsked, isForgettable, isWanted } from './conditions.js'
import { append, createTables, forget, put } from './tables.js'
import { type MemoryTx, transact } from './transact.js'

export type { MemoryTx } from './transact.js'

/** Milliseconds since 1970. */
export interface Clock {
  now(): number
}

export interface MemoryStoreOptions {
  /** Default: the computer's clock. */
  readonly clock?: Clock
}

export function memoryStore(options: MemoryStoreOptions = {}): Store<MemoryTx> {
  onlyKnown(options, ['clock'], 'memoryStore')
  const clock = options.clock ?? { now: () => Date.now() }
  const tables = createTables()
  let open = true

  /** Every method starts here: refused after close, otherwise the one reading of the clock that it works with. */
  function step(): number {
    if (!open) throw closed()
    return clock.now()
  }

  function claimOne(draft: Draft, now: number): Claimed {
    const found = tables.entries.get(addressId(draft))?.receipt
    if (found) return { won: false, now, found }
    const receipt = stamp(draft, now, tables.floor)
    put(tables, receipt, draft.audit)
    return { won: true, now, epoch: receipt.epoch }
  }

  function swapOne({ expect, next }: Swap, now: number): Swapped {
    const found = tables.entries.get(addressId(next))?.receipt
    if (!found || !isAsExpected(found, expect)) return { done: false, now }
    const receipt = stamp(next, now, found.epoch)
    put(tables, receipt, next.audit)
    return { done: true, now, epoch: receipt.epoch }
  }

  return {
    name: 'memory',
    maxBatch: 1_000,
    lanes: 1,
    maxOutcome: 1_000_000,

    async claim(wanted) {
      const now = step()
      return wanted.map((draft) => claimOne(draft, now))
    },

    async swap(changes) {
      const now = step()
      return changes.map((change) => swapOne(change, now))
    },

    async get(addresses) {
      const now = step()
      return { now, receipts: addresses.map((address) => tables.entries.get(addressId(address))?.receipt) }
    },

    async scan(query) {
      const now = step()
      const after = readNumber(query.cursor ?? '0')
      const rest = [...tables.entries.values()].filter(
        ({ serial, receipt }) => serial > after && isWanted(receipt, query, now),
      )
      const page = rest.slice(0, query.limit)
      const cursor = rest.length > page.length ? String(page.at(-1)?.serial ?? after) : undefined
      return { now, receipts: page.map(({ receipt }) => receipt), cursor }
    },

    async purge(limit, auditMs) {
      const now = step()
      const old = new Set(tables.log.filter(({ event }) => event.at < now - auditMs).slice(0, limit))
      tables.log = tables.log.filter((logged) => !old.has(logged))
      const receipts = [...tables.entries.values()].map(({ receipt }) => receipt)
      const ended = receipts.filter((receipt) => isForgettable(receipt, now)).slice(0, limit)
      for (const receipt of ended) forget(tables, receipt, now)
      return { receipts: ended.length, events: old.size }
    },

    async forget(claims) {
      const now = step()
      const ended = claims.flatMap((claim) => {
        const found = tables.entries.get(addressId(claim))?.receipt
        return found?.epoch === claim.epoch && isForgettable(found, now) ? [found] : []
      })
      for (const receipt of new Set(ended)) forget(tables, receipt, now)
      return new Set(ended).size
    },

    async record(events) {
      const now = step()
      for (const event of events) append(tables, { ...event, at: now })
    },

    async audit(query) {
      step()
      const { cursor, limit, newestFirst } = query
      const from = cursor === undefined && newestFirst ? Infinity : readNumber(cursor ?? '0')
      const rest = (newestFirst ? tables.log.toReversed() : tables.log).filter(
        ({ serial, event }) => (newestFirst ? serial < from : serial > from) && isAsked(event, query),
      )
      const page = rest.slice(0, limit)
      const end = page.at(-1)?.serial.toString() ?? cursor
      return {
        events: page.map(({ event }) => event),
        cursor: newestFirst && rest.length === page.length ? undefined : end,
      }
    },

    async check() {
      step()
      return report(tables.entries.size)
    },

    async close() {
      open = false
      tables.listeners.clear()
    },

    watch(listener) {
      tables.listeners.add(listener)
      return () => void tables.listeners.delete(listener)
    },

    async transact(work) {
      return await transact(tables, step, work)
    },
  }
}

function report(receipts: number): StoreReport {
  return {
    store: 'memory',
    findings: [
      {
        level: 'warning',
        code: 'NOT_DURABLE',
        message:
          'receipts live in the memory of one process: another process does not see them, and they end with it',
        remedy: 'use it in tests; in production use a store that survives a restart, such as sqliteStore',
      },
    ],
    facts: { receipts },
  }
}
