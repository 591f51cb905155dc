/** Faults in time, scans, purges and the audit log. */
import { memoryStore } from '../../../src/stores/memory/index.js'
import { type BrokenStore, force, pause, read } from './broken-store.js'

const EVENT = { at: 0, state: null, epoch: 1, attempt: 1, count: 1 } as const

export const keeping: readonly BrokenStore[] = [
  {
    fault: 'takes the time from the calling process',
    caughtBy: 'follows its own clock, whatever this process thinks the time is',
    make: () => memoryStore(),
  },
  {
    fault: 'starts epochs anew at one',
    caughtBy: 'takes an epoch from the clock, in microseconds',
    make: (store) => ({
      claim: async (wanted) => await store.claim(wanted.map((draft) => ({ ...draft, epoch: 1 }))),
    }),
  },
  {
    fault: 'takes a new epoch from the clock alone',
    caughtBy: 'keeps epochs going up when the clock steps back',
    make: (store, clock) => ({
      swap: async (changes) =>
        await store.swap(
          changes.map(({ expect, next }) => ({
            expect,
            next: { ...next, epoch: next.epoch ?? Math.floor(clock.now() * 1_000) },
          })),
        ),
    }),
  },
  {
    fault: 'forgets the epoch of what it purged',
    caughtBy: 'keeps epochs going up over a purge and a clock that steps back',
    make: (store, clock) => ({
      claim: async (wanted) =>
        await store.claim(wanted.map((draft) => ({ ...draft, epoch: Math.floor(clock.now() * 1_000) }))),
    }),
  },
  {
    fault: 'pages by how many rows came before',
    caughtBy: 'gives every receipt exactly once while others come, change and go',
    make: (store) => ({
      async scan(query) {
        const from = Number(query.cursor ?? 0)
        const { now, receipts } = await store.scan({ ...query, cursor: undefined, limit: 10_000 })
        const end = from + query.limit
        return {
          now,
          receipts: receipts.slice(from, end),
          cursor: end < receipts.length ? String(end) : undefined,
        }
      },
    }),
  },
  {
    fault: 'gives the last row of a page again on the next',
    caughtBy: 'gives every receipt exactly once, in a stable order',
    make: (store) => ({
      async scan(query) {
        const page = await store.scan(query)
        return page.cursor && page.receipts.length > 1
          ? { ...page, cursor: String(Number(page.cursor) - 1) }
          : page
      },
    }),
  },
  {
    fault: 'lists other tenants',
    caughtBy: 'filters by tenant, scope, key and state',
    make: (store) => ({ scan: async (query) => await store.scan({ ...query, tenant: undefined }) }),
  },
  {
    fault: 'purges what is pending',
    caughtBy: 'never deletes what is pending or unknown',
    make: (store) => purgingToo(store, 'pending'),
  },
  {
    fault: 'purges what is unknown',
    caughtBy: 'never deletes what is pending or unknown',
    make: (store) => purgingToo(store, 'unknown'),
  },
  {
    fault: 'purges without a limit',
    caughtBy: 'deletes no more than its limit at once',
    make: (store) => ({ purge: async (_limit, auditMs) => await store.purge(1_000_000, auditMs) }),
  },
  {
    fault: 'selects what to purge first and deletes it after',
    caughtBy: 'does not purge what is being taken over',
    make: (store) => ({
      async purge(limit, auditMs) {
        const { receipts } = await store.scan({ ended: true, limit })
        await pause()
        for (const receipt of receipts) {
          const there = await read(store, receipt)
          if (there)
            await force(store, { ...there, state: 'released', forMs: 0, audit: { event: 'released' } })
        }
        return await store.purge(limit, auditMs)
      },
    }),
  },
  {
    fault: 'purges without a word',
    caughtBy: 'writes an expired event for each',
    make: (store) => withoutEvents(store, 'expired'),
  },
  {
    fault: 'drops the audit log with the receipt',
    caughtBy: 'keeps the audit log of a deleted receipt, and drops old events apart',
    make: (store) => ({ purge: async (limit) => await store.purge(limit, 0) }),
  },
  {
    fault: 'loses the note of a swap',
    caughtBy: 'writes the note of a swap with the swap',
    make: (store) => withoutEvents(store, 'takeover'),
  },
  {
    fault: 'writes the note of a claim that was lost',
    caughtBy: 'writes no note of what was not done',
    make: (store) => ({
      async claim(wanted) {
        const results = await store.claim(wanted)
        const lost = wanted.filter((_, i) => !results[i]?.won)
        await store.record(
          lost.map(({ tenant, scope, key, fingerprint, audit }) => ({
            ...EVENT,
            tenant,
            scope,
            key,
            fingerprint,
            ...audit,
          })),
        )
        return results
      },
    }),
  },
  {
    fault: "keeps the caller's time in a recorded event",
    caughtBy: 'records decisions that changed nothing',
    make: (store) => {
      const times = new Map<string, number>()
      return {
        async record(events) {
          for (const { event, at } of events) times.set(event, at)
          await store.record(events)
        },
        async audit(query) {
          const page = await store.audit(query)
          return {
            ...page,
            events: page.events.map((one) => ({ ...one, at: times.get(one.event) ?? one.at })),
          }
        },
      }
    },
  },
  {
    fault: 'follows the audit log by time',
    caughtBy: 'gives the log oldest first, each event once, and lets a reader follow it',
    make: (store) => ({
      async audit(query) {
        const after = Number(query.cursor ?? 0)
        const all = await store.audit({ ...query, cursor: undefined, limit: 100_000 })
        const events = all.events.filter(({ at }) => at > after).slice(0, query.limit)
        return { events, cursor: events.at(-1)?.at.toString() ?? query.cursor }
      },
    }),
  },
  {
    fault: 'gives no cursor on the last page of the log',
    caughtBy: 'gives the log oldest first, each event once, and lets a reader follow it',
    make: (store) => ({
      async audit(query) {
        const page = await store.audit(query)
        return page.events.length < query.limit ? { ...page, cursor: undefined } : page
      },
    }),
  },
  {
    fault: 'leaves out of get what is not there',
    caughtBy: 'gets receipts in the order that was asked',
    make: (store) => ({
      async get(addresses) {
        const { now, receipts } = await store.get(addresses)
        return { now, receipts: receipts.filter((receipt) => receipt !== undefined) }
      },
    }),
  },
  {
    fault: 'reads from a replica that lags behind',
    caughtBy: 'reads what it has just written',
    make: (store) => {
      let last: ReturnType<typeof store.get> | undefined
      return {
        async swap(changes) {
          last = store.get(changes.map(({ next }) => next))
          return await store.swap(changes)
        },
        async get(addresses) {
          const [lagging] = [last]
          last = undefined
          return await (lagging ?? store.get(addresses))
        },
      }
    },
  },
  {
    fault: 'answers after it was closed',
    caughtBy: 'refuses every call after close',
    make: () => ({ close: async () => {} }),
  },
  {
    fault: 'is set up wrongly, and says so',
    caughtBy: 'says what it is, and that it is set up as it should be',
    make: (store) => ({
      async check() {
        const finding = {
          level: 'error',
          code: 'EVICTS',
          message: 'it evicts',
          remedy: 'turn that off',
        } as const
        return { ...(await store.check()), findings: [finding] }
      },
    }),
  },
]

function withoutEvents(
  store: Parameters<BrokenStore['make']>[0],
  event: string,
): ReturnType<BrokenStore['make']> {
  return {
    async audit(query) {
      const page = await store.audit(query)
      return { ...page, events: page.events.filter((one) => one.event !== event) }
    },
  }
}

function purgingToo(
  store: Parameters<BrokenStore['make']>[0],
  state: 'pending' | 'unknown',
): ReturnType<BrokenStore['make']> {
  return {
    async purge(limit, auditMs) {
      const { receipts } = await store.scan({ ended: true, states: [state], limit })
      for (const receipt of receipts) {
        await force(store, { ...receipt, state: 'released', forMs: 0, audit: { event: 'released' } })
      }
      return await store.purge(limit, auditMs)
    },
  }
}
