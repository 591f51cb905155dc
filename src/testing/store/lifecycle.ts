/** Get, check, close, and what a store says about itself. */
import { addressOf } from './claim.js'
import { change, draft, HOUR_MS, put } from './drafts.js'
import { holds, refused, same } from './expect.js'
import { subject } from './suite.js'

export const lifecycle = subject('lifecycle', {
  'gets receipts in the order that was asked': async ({ store }) => {
    const [a, b] = [await put(store), await put(store)]
    const absent = draft()
    const { now, receipts } = await store.get([b, absent, a, b].map(addressOf))
    same(receipts, [b, undefined, a, b], 'get must answer in order, undefined where there is no receipt')
    holds(Number.isFinite(now), "get must tell the store's time")
    same((await store.get([])).receipts, [], 'get must answer an empty list with an empty list')
  },

  'reads what it has just written': async ({ store }) => {
    for (let i = 0; i < 20; i++) {
      const receipt = await put(store)
      await store.swap([change(receipt, 'succeeded')])
      const { receipts } = await store.get([receipt])
      same(receipts[0]?.state, 'succeeded', 'get must never read from a replica or a cache')
    }
  },

  'says what it is, and that it is set up as it should be': async ({ store }) => {
    holds(store.name.length > 0, 'a store must have a name')
    for (const limit of [store.maxBatch, store.lanes, store.maxOutcome]) {
      holds(
        Number.isSafeInteger(limit) && limit >= 1,
        'maxBatch, lanes and maxOutcome must be whole numbers from 1',
      )
    }
    const report = await store.check()
    same(report.store, store.name, 'a report must name its store')
    for (const finding of report.findings) {
      const told = finding.code.length > 0 && finding.message.length > 0 && finding.remedy.length > 0
      holds(told, 'a finding must have a code, a message and a remedy')
      holds(
        finding.level !== 'error',
        `the store under test must be set up as its check asks: ${finding.message}`,
      )
    }
  },

  '[R12] refuses every call after close': async ({ store }) => {
    const stored = await put(store)
    await store.close()
    await store.close()
    const calls: Readonly<Record<string, () => Promise<unknown>>> = {
      claim: () => store.claim([draft()]),
      swap: () => store.swap([change(stored, 'failed')]),
      get: () => store.get([stored]),
      scan: () => store.scan({ limit: 1 }),
      purge: () => store.purge(1, HOUR_MS),
      forget: () => store.forget([stored]),
      record: () =>
        store.record([
          {
            ...addressOf(stored),
            event: 'stale',
            at: 0,
            state: null,
            epoch: 1,
            attempt: 1,
            fingerprint: 'f',
            count: 1,
          },
        ]),
      audit: () => store.audit({ limit: 1 }),
      ...(store.transact ? { transact: async () => await store.transact?.(async () => {}) } : {}),
    }
    for (const [verb, call] of Object.entries(calls)) {
      await refused(
        Promise.resolve().then(call),
        `a closed store must reject ${verb}, not hang and not answer`,
      )
    }
  },
})
