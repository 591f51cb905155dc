/** What ibid does, through its public API, on a store that the caller has opened. */
import { createIbid } from 'ibid'
import { newKey, payloadOf, perSecond, resultOf, SCOPE, TENANT, WARM_UP, warmUp } from './workload.mjs'

const POLICY = { window: '7d' }

function openIbid(store, cache) {
  return createIbid({ store, tenant: TENANT, housekeeping: false, ...(cache === undefined ? {} : { cache }) })
}

/** New actions: claim, effect, settle. */
export async function actions(store, { count, callers, warmUpMs }) {
  const ibid = openIbid(store)
  const one = () => {
    const key = newKey()
    return ibid.once({ scope: SCOPE, key, payload: payloadOf(key) }, () => resultOf(key), POLICY)
  }
  if (callers === 1) await perSecond(WARM_UP, 1, one)
  else await warmUp(warmUpMs, callers, one)
  const rate = await perSecond(count, callers, one)
  await ibid.close()
  return rate
}

/**
 * Duplicates of settled actions, answered from this process's memory, or (cache off) from the store. Each has come
 * over a wire a second time: equal to the first, and not one object or text the same.
 */
export async function replays(store, { count, callers, keys = 5_000, cached }) {
  const ibid = openIbid(store, cached ? undefined : false)
  const intents = Array.from({ length: keys }, () => {
    const key = newKey()
    return { scope: SCOPE, key, payload: payloadOf(key) }
  })
  const duplicates = intents.map((intent) => JSON.parse(JSON.stringify(intent)))
  const send = (sent) => (i) => {
    const intent = sent[i % keys]
    return ibid.once(intent, () => resultOf(intent.key), POLICY)
  }
  await perSecond(keys, 256, send(intents))
  await perSecond(keys * 2, callers, send(intents))
  const rate = await perSecond(count, callers, send(duplicates), ({ replayed, value }) => {
    if (!replayed || value.status !== 'succeeded') throw new Error('that was no replay')
  })
  await ibid.close()
  return rate
}

/** Settled receipts put straight into the store, to see how it works when it is full. */
export async function fill(store, count, onProgress) {
  const size = Math.min(store.maxBatch * 4, 2_000)
  for (let done = 0; done < count; done += size) {
    const drafts = Array.from({ length: Math.min(size, count - done) }, draftOf)
    await store.claim(drafts)
    await store.swap(
      drafts.map((draft) => ({
        expect: { token: draft.token, state: 'pending' },
        next: {
          ...draft,
          state: 'succeeded',
          outcome: JSON.stringify({ value: resultOf(draft.key) }),
          forMs: draft.windowMs,
          audit: { event: 'settled' },
        },
      })),
    )
    onProgress?.(done + drafts.length)
  }
}

function draftOf() {
  const key = newKey()
  return {
    tenant: TENANT,
    scope: SCOPE,
    key,
    fingerprint: `1:${key}-${key.slice(0, 6)}`,
    state: 'pending',
    token: newKey(),
    attempt: 1,
    maxAttempts: 5,
    recovery: 'hold',
    leaseMs: 30_000,
    windowMs: 604_800_000,
    outcome: null,
    epoch: null,
    createdAt: null,
    forMs: 30_000,
    audit: { event: 'claimed' },
  }
}

/** One caller, one action after the other: microseconds each, the median. What is sent is at hand, as it is for raw. */
export async function oneCaller(store, { count }) {
  const ibid = openIbid(store)
  const times = []
  for (let i = 0; i < count + WARM_UP; i++) {
    const key = newKey()
    const intent = { scope: SCOPE, key, payload: payloadOf(key) }
    const result = resultOf(key)
    const startMs = performance.now()
    await ibid.once(intent, () => result, POLICY)
    if (i >= WARM_UP) times.push((performance.now() - startMs) * 1_000)
  }
  await ibid.close()
  return Math.round(times.toSorted((a, b) => a - b)[count >> 1])
}
