/** Faults in forgetting by name, and in reading the log from a time on or backwards. */
import { type BrokenStore, force, read } from './broken-store.js'

export const lookingBack: readonly BrokenStore[] = [
  {
    fault: 'forgets whatever has ended, named or not',
    caughtBy: 'deletes the named ones that have ended, with an event each, and no others',
    make: (store) => ({
      forget: async (claims) => (claims.length === 0 ? 0 : (await store.purge(1_000, 86_400_000)).receipts),
    }),
  },
  {
    fault: 'forgets what is in its window',
    caughtBy: 'leaves what has not ended, what never ends, and what is pending or unknown',
    make: (store) => ({
      async forget(claims) {
        for (const claim of claims) {
          const there = await read(store, claim)
          if (there)
            await force(store, { ...there, state: 'released', forMs: 0, audit: { event: 'released' } })
        }
        return await store.forget(claims)
      },
    }),
  },
  {
    fault: 'forgets by address alone',
    caughtBy: 'leaves a receipt that was claimed anew since it was named',
    make: (store) => ({
      async forget(claims) {
        const { receipts } = await store.get(claims)
        return await store.forget(receipts.filter((receipt) => receipt !== undefined))
      },
    }),
  },
  {
    fault: 'counts a receipt twice that is named twice',
    caughtBy: 'deletes many at once, whichever shard or page they are on',
    make: (store) => ({
      async forget(claims) {
        const gone = await store.forget(claims)
        return gone === 0 ? 0 : gone + claims.length - new Set(claims.map(({ key }) => key)).size
      },
    }),
  },
  {
    fault: 'gives the whole log whatever the time',
    caughtBy: 'gives the log from a time on',
    make: (store) => ({ audit: async (query) => await store.audit({ ...query, since: undefined }) }),
  },
  {
    fault: 'leaves out the very instant that was asked for',
    caughtBy: 'gives the log from a time on',
    make: (store) => ({
      audit: async (query) =>
        await store.audit({ ...query, since: query.since === undefined ? undefined : query.since + 1 }),
    }),
  },
  {
    fault: 'turns single pages round instead of the log',
    caughtBy: 'gives the log newest first, each event once, to its beginning',
    make: (store) => ({
      async audit(query) {
        const page = await store.audit({ ...query, newestFirst: false })
        if (!query.newestFirst) return page
        const isLast = page.events.length < query.limit
        return { events: page.events.toReversed(), cursor: isLast ? undefined : page.cursor }
      },
    }),
  },
]
