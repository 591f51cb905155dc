/**
 * The SQLite store: durable, in one file, for several processes on one computer. Receipts are rows in the order of
 * their claims; the way from an address to its row is in memory and in sealed generations (catalogue.ts), so that a
 * file of millions takes claims about as fast as an empty one. docs/adr/0003-sqlite-layout.md has the reasons and
 * the figures.
 */
import { closed, unsafeStore } from '../../core/errors.js'
import type { Claimed, Store, Swapped } from '../../store.js'
import { readOptions, type SqliteOptions } from './options.js'
import { readAudit, readScan } from './pages.js'
import { toReceipt } from './receipt.js'
import { type Answered, startThread } from './thread.js'
import { begin, type Own, runWork, type SqliteTransaction } from './transact.js'
import { isWrite, type Verb, type Verbs } from './verbs.js'

export type { SqliteOptions } from './options.js'
export type { SqliteTransaction } from './transact.js'

const PURGE_BATCH = 250

/** `file` is made when it is not there yet; its directory has to be. Nothing is opened before the first call. */
export function sqliteStore(file: string, options: SqliteOptions = {}): Store<SqliteTransaction> {
  if (file === '' || file.includes(':memory:')) throw inMemory(file)
  const settings = readOptions(file, options)
  const thread = startThread(settings, options.thread)
  let open = true
  let running = 0
  let drained: (() => void) | undefined
  let own: Own | undefined
  const inTurn = turns()
  /** While a transaction of this store waits for the lock, no new writes are sent: it would wait for ever. */
  let gate: Promise<unknown> | undefined

  function call<V extends Verb>(verb: V, input: Verbs[V]['in']): Answered<V> {
    if (!open) throw closed()
    const answer =
      gate && isWrite(verb) ? gate.then(() => thread.call(verb, input)) : thread.call(verb, input)
    return answer instanceof Promise ? counted(() => answer) : answer
  }

  async function counted<T>(work: () => Promise<T>): Promise<T> {
    if (!open) throw closed()
    running++
    try {
      return await work()
    } finally {
      if (--running === 0) drained?.()
    }
  }

  return {
    name: 'sqlite',
    maxBatch: 128,
    lanes: 2,
    maxOutcome: 1_000_000,

    // What is there at once is not waited for: a lone caller would notice.
    async claim(wanted) {
      const answer = call('claim', wanted)
      return toClaimed(answer instanceof Promise ? await answer : answer)
    },

    async swap(changes) {
      const answer = call('swap', changes)
      return toSwapped(answer instanceof Promise ? await answer : answer)
    },

    async get(addresses) {
      const { now, rows } = await call('get', addresses)
      return { now, receipts: rows.map((found) => (found ? toReceipt(found) : undefined)) }
    },

    scan: async (query) => await readScan(query, async (after) => call('scan', { query, after })),
    audit: async (query) => await readAudit(query, async (from) => call('audit', { query, from })),

    async purge(limit, auditMs) {
      let receipts = 0
      let events = 0
      // In small transactions, so that claims get their turn in between.
      for (let left = limit; left > 0; left -= PURGE_BATCH) {
        const batch = Math.min(left, PURGE_BATCH)
        const purged = await call('purge', { limit: batch, auditMs })
        receipts += purged.receipts
        events += purged.events
        if (purged.receipts < batch && purged.events < batch) break
      }
      return { receipts, events }
    },

    async forget(claims) {
      let forgotten = 0
      for (let at = 0; at < claims.length || at === 0; at += PURGE_BATCH) {
        const only = claims.slice(at, at + PURGE_BATCH)
        forgotten += (await call('purge', { limit: 0, auditMs: 0, only })).receipts
      }
      return forgotten
    },

    async record(events) {
      await call('record', events)
    },

    async check() {
      const report = await call('check', null)
      return { ...report, facts: { ...report.facts, thread: thread.kind } }
    },

    async close() {
      if (!open) return
      open = false
      if (running > 0) await new Promise<void>((resolve) => (drained = resolve))
      own?.db.close()
      await thread.close()
    },

    async transact(work) {
      return await counted(() =>
        inTurn(async () => {
          // The desk has brought the file to its version before anything else writes to it.
          if (!own) await thread.call('check', null)
          const begun = begin(own, settings, settings.busyMs)
          gate = begun.catch(() => undefined)
          own = await begun.finally(() => (gate = undefined))
          return await runWork(own, settings, async ({ next }) => thread.call('locate', next), work)
        }),
      )
    },
  }
}

function toClaimed({ now, answers }: Verbs['claim']['out']): Claimed[] {
  return answers.map((answer) =>
    typeof answer === 'number'
      ? { won: true, now, epoch: answer }
      : { won: false, now, found: toReceipt(answer) },
  )
}

function toSwapped({ now, answers }: Verbs['swap']['out']): Swapped[] {
  return answers.map((epoch) => (epoch === null ? { done: false, now } : { done: true, now, epoch }))
}

/** Work that is done one after the other. */
function turns(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const mine = last.then(work)
    last = mine.catch(() => undefined)
    return mine
  }
}

function inMemory(file: string): Error {
  return unsafeStore(
    `${JSON.stringify(file)} is a database that ends with this process; give the path of a file, or use memoryStore()`,
  )
}
