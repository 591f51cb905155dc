/** Faults in swaps and transactions. */
import { type BrokenStore, force, pause, read } from './broken-store.js'

export const swaps: readonly BrokenStore[] = [
  {
    fault: 'does not compare the token',
    caughtBy: 'changes nothing for another token',
    make: (store) => ({
      async swap(changes) {
        const loose = changes.map(async (one) => {
          const there = await read(store, one.next)
          return there ? { ...one, expect: { ...one.expect, token: there.token } } : one
        })
        return await store.swap(await Promise.all(loose))
      },
    }),
  },
  {
    fault: 'compares tokens without regard to case',
    caughtBy: 'changes nothing for another token',
    make: (store) => ({
      async swap(changes) {
        const loose = changes.map(async (one) => {
          const there = await read(store, one.next)
          const equal = there?.token.toLowerCase() === one.expect.token.toLowerCase()
          return equal ? { ...one, expect: { ...one.expect, token: there?.token ?? '' } } : one
        })
        return await store.swap(await Promise.all(loose))
      },
    }),
  },
  {
    fault: 'does not compare the state',
    caughtBy: 'changes nothing for another state',
    make: (store) => ({
      async swap(changes) {
        const loose = changes.map(async (one) => {
          const there = await read(store, one.next)
          return there ? { ...one, expect: { ...one.expect, state: there.state } } : one
        })
        return await store.swap(await Promise.all(loose))
      },
    }),
  },
  {
    fault: 'does not compare until',
    caughtBy: 'compares until where it is given',
    make: (store) => ({
      swap: async (changes) =>
        await store.swap(
          changes.map(({ expect: { token, state }, next }) => ({ expect: { token, state }, next })),
        ),
    }),
  },
  {
    fault: 'takes an expected until of null for none',
    caughtBy: 'compares until where it is given',
    make: (store) => ({
      swap: async (changes) =>
        await store.swap(
          changes.map(({ expect, next }) =>
            expect.until === null
              ? { expect: { token: expect.token, state: expect.state }, next }
              : { expect, next },
          ),
        ),
    }),
  },
  {
    fault: 'inserts where there is nothing to swap',
    caughtBy: 'inserts nothing where there is nothing',
    make: (store) => ({
      async swap(changes) {
        for (const { next } of changes) await store.claim([next])
        return await store.swap(changes)
      },
    }),
  },
  {
    fault: 'answers the swaps that were made first',
    caughtBy: 'swap: answers a batch in its order',
    make: (store) => ({
      swap: async (changes) =>
        (await store.swap(changes)).toSorted((a, b) => Number(b.done) - Number(a.done)),
    }),
  },
  {
    fault: 'compares first and writes after, with time in between',
    caughtBy: 'lets one of many swaps at once win',
    make: (store) => ({
      async swap(changes) {
        const results = []
        for (const { expect, next } of changes) {
          const there = await read(store, next)
          const { now } = await store.get([])
          const same = there?.token === expect.token && there.state === expect.state
          await pause()
          if (same) results.push({ done: true, now, epoch: await force(store, next) } as const)
          else results.push({ done: false, now } as const)
        }
        return results
      },
    }),
  },
  {
    fault: 'writes a change in two steps',
    caughtBy: 'gives no reader half a change',
    make: (store) => ({
      async swap(changes) {
        for (const { next } of changes) {
          const there = await read(store, next)
          if (there) await force(store, { ...there, forMs: 1_000, token: next.token, audit: next.audit })
        }
        await pause()
        return await store.swap(
          changes.map(({ expect, next }) => ({ expect: { ...expect, token: next.token }, next })),
        )
      },
    }),
  },
  {
    fault: 'takes an end at once for no end',
    caughtBy: 'keeps for ever what has no end',
    make: (store) => ({
      claim: async (wanted) =>
        await store.claim(wanted.map((draft) => ({ ...draft, forMs: draft.forMs || null }))),
    }),
  },
  {
    fault: 'sets createdAt anew with every swap',
    caughtBy: 'keeps createdAt where it is given, and sets it otherwise',
    make: (store) => ({
      swap: async (changes) =>
        await store.swap(changes.map(({ expect, next }) => ({ expect, next: { ...next, createdAt: null } }))),
    }),
  },
  {
    fault: 'reads an outcome as JSON and writes it again',
    caughtBy: 'keeps an outcome byte for byte',
    make: (store) => ({
      swap: async (changes) =>
        await store.swap(
          changes.map(({ expect, next }) => ({
            expect,
            next: { ...next, outcome: rewritten(next.outcome) },
          })),
        ),
    }),
  },
  {
    fault: "keeps the caller's writes when the transaction is rolled back",
    caughtBy: 'rolls back the writes together with the swap',
    make: (store) => ({
      async transact(work) {
        return (await store.transact?.(async (tx, swap) => {
          const through = {
            ...tx,
            set: (name: string, value: unknown) =>
              void store.transact?.(async (other) => other.set(name, value)),
          }
          return await work(through, swap)
        })) as never
      },
    }),
  },
  {
    fault: 'does not compare the token inside a transaction',
    caughtBy: 'lets a lost token roll everything back',
    make: (store) => ({
      async transact(work) {
        return (await store.transact?.(
          async (tx, swap) =>
            await work(tx, async (one) => {
              const there = await read(store, one.next)
              return await swap({ ...one, expect: { ...one.expect, token: there?.token ?? '' } })
            }),
        )) as never
      },
    }),
  },
]

function rewritten(outcome: string | null): string | null {
  try {
    return outcome === null ? null : JSON.stringify(JSON.parse(outcome))
  } catch {
    return outcome
  }
}
