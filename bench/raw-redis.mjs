/**
 * What a Redis server gives when nobody checks anything, measured beside what the store gets out of it: the limits
 * that the benchmark compares with. Keys are random, values have about 300 bytes. Every function takes the URL of a
 * server, works for about `ms` milliseconds, and answers with operations per second or microseconds per operation.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { warmUp } from './workload.mjs'

export const VALUE = `{"value":"${'x'.repeat(288)}"}`

/** `SET NX` and then `SET XX` by so many callers at once, on one connection, sent together: pairs per second. */
export async function rawPipelined(url, { callers = 256, ms = 3_000, warmUpMs = 0 } = {}) {
  return withClient(url, { enableAutoPipelining: true }, (redis) =>
    loop(callers, { ms, warmUpMs }, async () => {
      const key = `raw:${randomUUID()}`
      await redis.set(key, VALUE, 'NX')
      await redis.set(key, VALUE, 'XX')
    }),
  )
}

/** One caller, one after the other: microseconds per pair of round trips. */
export async function rawOneCaller(url, { ms = 2_000, warmUpMs = 0 } = {}) {
  return withClient(url, {}, async (redis) => {
    const perSecond = await loop(1, { ms, warmUpMs }, async () => {
      const key = `raw:${randomUUID()}`
      await redis.set(key, VALUE, 'NX')
      await redis.set(key, VALUE, 'XX')
    })
    return 1e6 / perSecond
  })
}

/** `GET` of random keys out of `keys`, by so many callers at once, sent together: reads per second. */
export async function rawGet(url, { callers = 256, ms = 3_000, warmUpMs = 0, keys = 10_000 } = {}) {
  return withClient(url, { enableAutoPipelining: true }, async (redis) => {
    const names = Array.from({ length: keys }, () => `raw:${randomUUID()}`)
    await Promise.all(names.map((name) => redis.set(name, VALUE)))
    return loop(callers, { ms, warmUpMs }, () => redis.get(names[Math.floor(Math.random() * keys)]))
  })
}

/** Claim and settle through the seam, in batches as the engine sends them: pairs per second. */
export async function storePairs(store, { batch = 128, lanes = 2, ms = 3_000 } = {}) {
  const perBatch = await loop(lanes, { ms }, async () => {
    const drafts = Array.from({ length: batch }, newDraft)
    const claimed = await store.claim(drafts)
    await store.swap(drafts.map((draft, i) => settle(draft, claimed[i])))
  })
  return perBatch * batch
}

/** One caller: microseconds per claim and settlement. */
export async function storeOneCaller(store, { ms = 2_000 } = {}) {
  return 1e6 / (await storePairs(store, { batch: 1, lanes: 1, ms }))
}

/** Claims that find a settled receipt: replays per second. */
export async function storeReplays(store, { batch = 128, lanes = 2, ms = 3_000, keys = 10_000 } = {}) {
  const drafts = Array.from({ length: keys }, newDraft)
  for (let i = 0; i < keys; i += 200) {
    const some = drafts.slice(i, i + 200)
    const claimed = await store.claim(some)
    await store.swap(some.map((draft, j) => settle(draft, claimed[j])))
  }
  const any = () => ({ ...drafts[Math.floor(Math.random() * keys)], token: randomUUID() })
  const perBatch = await loop(lanes, { ms }, () => store.claim(Array.from({ length: batch }, any)))
  return perBatch * batch
}

export function newDraft() {
  return {
    tenant: 'acme',
    scope: 'refund',
    key: `wf_${randomUUID()}:step_3`,
    fingerprint: `1:${randomBytes(32).toString('base64url')}`,
    state: 'pending',
    token: randomUUID(),
    attempt: 1,
    maxAttempts: 5,
    recovery: 'retry',
    leaseMs: 30_000,
    windowMs: 604_800_000,
    outcome: null,
    epoch: null,
    createdAt: null,
    forMs: 30_000,
    audit: { event: 'claimed' },
  }
}

export function settle(draft, { epoch, now }) {
  const next = { ...draft, state: 'succeeded', outcome: VALUE, epoch, createdAt: now }
  return {
    expect: { token: draft.token, state: 'pending' },
    next: { ...next, forMs: draft.windowMs, audit: { event: 'settled' } },
  }
}

async function withClient(url, options, work) {
  const redis = new Redis(url, options)
  try {
    return await work(redis)
  } finally {
    redis.disconnect()
  }
}

/** Rounds per second that so many callers get done together. */
async function loop(callers, { ms, warmUpMs = 0 }, round) {
  for (let i = 0; i < 50; i++) await round()
  await warmUp(warmUpMs, callers, round)
  const start = performance.now()
  let rounds = 0
  await Promise.all(
    Array.from({ length: callers }, async () => {
      while (performance.now() - start < ms) {
        await round()
        rounds++
      }
    }),
  )
  return (rounds * 1_000) / (performance.now() - start)
}
