/** Faults in claims and in addresses. */
import { type BrokenStore, force, pause, read, renamed } from './broken-store.js'

export const claims: readonly BrokenStore[] = [
  {
    fault: 'reads first and inserts after, with time in between',
    caughtBy: 'lets one of many claims at once win',
    make: (store) => ({
      async claim(wanted) {
        const { now, receipts } = await store.get(wanted)
        await pause()
        const results = []
        for (const [i, draft] of wanted.entries()) {
          const found = receipts[i]
          if (found) results.push({ won: false, now, found } as const)
          else results.push({ won: true, now, epoch: await force(store, draft) } as const)
        }
        return results
      },
    }),
  },
  {
    fault: 'looks up a whole batch before it inserts any of it',
    caughtBy: 'lets the first of two claims in one batch win',
    make: (store) => ({
      async claim(wanted) {
        const { now, receipts } = await store.get(wanted)
        const results = await store.claim(wanted)
        return results.map((result, i) =>
          result.won || receipts[i] ? result : { won: true, now, epoch: result.found.epoch },
        )
      },
    }),
  },
  {
    fault: 'answers a batch of claims in another order',
    caughtBy: 'claim: answers a batch in its order',
    make: (store) => ({ claim: async (wanted) => (await store.claim(wanted)).toReversed() }),
  },
  {
    fault: 'takes an expired receipt for an absent one',
    caughtBy: 'counts a receipt as present after its lease or window has ended',
    make: (store) => ({
      async claim(wanted) {
        const results = []
        for (const draft of wanted) {
          const there = await read(store, draft)
          const [result] = await store.claim([draft])
          const ended = there && there.until !== null && there.until <= (result?.now ?? 0)
          if (ended)
            results.push({ won: true, now: result?.now ?? 0, epoch: await force(store, draft) } as const)
          else if (result) results.push(result)
        }
        return results
      },
    }),
  },
  {
    fault: 'overwrites settled receipts on a claim',
    caughtBy: 'counts a receipt as present in every state',
    make: (store) => ({
      async claim(wanted) {
        for (const draft of wanted) {
          const there = await read(store, draft)
          if (there?.state === 'succeeded') await force(store, draft)
        }
        return await store.claim(wanted)
      },
    }),
  },
  {
    fault: 'leaves the tenant out of the address',
    caughtBy: 'keeps tenants apart',
    make: (store) => renamed(store, ({ scope, key }) => ({ tenant: 'all', scope, key })),
  },
  {
    fault: 'runs the parts of an address together',
    caughtBy: 'does not let the parts of an address run together',
    make: (store) =>
      renamed(store, ({ tenant, scope, key }) => ({ tenant: 't', scope: 's', key: tenant + scope + key })),
  },
  {
    fault: 'joins the parts of an address with a colon',
    caughtBy: 'does not let the parts of an address run together',
    make: (store) =>
      renamed(store, ({ tenant, scope, key }) => ({
        tenant: 't',
        scope: 's',
        key: [tenant, scope, key].join(':'),
      })),
  },
  {
    fault: 'compares keys without regard to case',
    caughtBy: 'tells names apart byte for byte',
    make: (store) => renamed(store, (address) => ({ ...address, key: address.key.toLowerCase() })),
  },
  {
    fault: 'normalizes Unicode in scopes',
    caughtBy: 'tells names apart byte for byte',
    make: (store) => renamed(store, (address) => ({ ...address, scope: address.scope.normalize('NFC') })),
  },
  {
    fault: 'cuts keys off at 191 characters',
    caughtBy: 'tells names apart byte for byte',
    make: (store) => renamed(store, (address) => ({ ...address, key: address.key.slice(0, 191) })),
  },
  {
    fault: 'keeps every receipt as one to hold',
    caughtBy: 'keeps every recovery and every number',
    make: (store) => ({
      claim: async (wanted) => await store.claim(wanted.map((draft) => ({ ...draft, recovery: 'hold' }))),
    }),
  },
]
