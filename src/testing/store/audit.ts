/** Audit: a note is written with its change and only with it; the log is read in order and can be followed. */
import type { AuditEvent } from '../../core/audit.js'
import type { Receipt } from '../../core/receipt.js'
import type { AuditQuery, Store } from '../../store.js'
import { found, nowOf } from './bench.js'
import { addressOf } from './claim.js'
import { change, draft, put, swapped } from './drafts.js'
import { holds, same } from './expect.js'
import { subject } from './suite.js'

export const audit = subject('audit', {
  '[R50] writes the note of a claim with the claim': async ({ store }) => {
    const why = 'because "it" said so: \u{1F600}\n\\ %'
    const stored = await put(store, { audit: { event: 'claimed', by: "o'brien", why } })
    const expected = eventFor(stored, { event: 'claimed', by: "o'brien", why })
    same(
      await events(store, addressOf(stored)),
      [expected],
      'a claim that is won must leave its note, as it is',
    )
  },

  '[R50] writes the note of a swap with the swap': async ({ store }) => {
    const first = await put(store)
    await swapped(
      store,
      change(first, 'pending', { epoch: null, attempt: 2, audit: { event: 'takeover', by: 'sweeper' } }),
    )
    const second = await found(store, first)
    await swapped(store, change(second, 'unknown', { forMs: null, audit: { event: 'held' } }))
    const third = await found(store, first)
    const expected = [
      eventFor(first, { event: 'claimed' }),
      eventFor(second, { event: 'takeover', by: 'sweeper' }),
      eventFor(third, { event: 'held' }),
    ]
    same(
      await events(store, addressOf(first)),
      expected,
      'every swap that is made must leave its note, in order',
    )
  },

  '[R50] writes no note of what was not done': async ({ store }) => {
    const stored = await put(store)
    await store.claim([draft({ ...addressOf(stored), audit: { event: 'claimed', by: 'loser' } })])
    await store.swap([{ ...change(stored, 'failed'), expect: { token: 'wrong', state: 'pending' } }])
    await store.swap([{ ...change(stored, 'failed'), expect: { token: stored.token, state: 'unknown' } }])
    const absent = draft()
    await store.swap([{ expect: { token: absent.token, state: 'pending' }, next: absent }])
    same(
      (await events(store, {})).length,
      1,
      'a claim that is lost and a swap that is not made must leave no note',
    )
  },

  '[R50] records decisions that changed nothing': async ({ store }) => {
    const stored = await put(store)
    const hit = { ...eventFor(stored, { event: 'dedup_hit', why: 'same' }), at: 0, count: 17 }
    const conflict = {
      ...eventFor(stored, { event: 'conflict', by: 'x' }),
      at: 4e15,
      state: null,
      fingerprint: 'other',
    }
    const before = await nowOf(store)
    await store.record([hit])
    await store.record([conflict])
    await store.record([])
    const after = await nowOf(store)
    const [, first, second, ...more] = await events(store, addressOf(stored))
    holds(
      first !== undefined && second !== undefined && more.length === 0,
      'a store must append what is recorded',
    )
    same(
      [
        { ...first, at: 0 },
        { ...second, at: 4e15 },
      ],
      [hit, conflict],
      'recorded events must be kept as they are',
    )
    const inside = [first, second].every(({ at }) => at >= before && at <= after)
    holds(inside, "the time of a recorded event must be the store's")
    same(await found(store, stored), stored, 'recording must not touch a receipt')
  },

  '[R3, R50] does all of a batch, whatever characters a note has': async ({ store }) => {
    const odd = { by: 'a\0b', why: 'Unexpected token \0\ud800' }
    const claims = await store.claim([
      draft({ key: 'a' }),
      draft({ key: 'b', audit: { event: 'claimed', ...odd } }),
      draft({ key: 'c' }),
    ])
    holds(
      claims.every(({ won }) => won),
      'a note must keep no claim of a batch from being won',
    )
    const { receipts } = await store.get(['a', 'b', 'c'].map((key) => ({ ...draft(), key })))
    const [a, b, c] = receipts as [Receipt, Receipt, Receipt]
    const held = { forMs: null, audit: { event: 'held', ...odd } } as const
    const swaps = await store.swap([change(a, 'succeeded'), change(b, 'unknown', held)])
    holds(
      swaps.every(({ done }) => done),
      'a note must keep no swap of a batch from being made',
    )
    await swapped(store, change(c, 'unknown', held))
    const hit = eventFor(a, { event: 'dedup_hit' })
    await store.record([hit, { ...hit, ...odd }])
    await store.record([{ ...hit, ...odd }])
    const told = (await events(store, {})).filter(({ why }) => why !== undefined)
    // A store whose texts cannot hold such a character has the sign for what cannot be shown in its place.
    const readable = told.map(({ by, why }) => `${by}: ${why}`.replaceAll(/[\0\ud800]/g, '\ufffd'))
    const expected = 'a\ufffdb: Unexpected token \ufffd\ufffd'
    same(readable, Array(5).fill(expected), 'a note must be in the log, whatever characters it has')
  },

  'filters by tenant, scope and key': async ({ store }) => {
    const all: Receipt[] = []
    for (const tenant of ['a', 'b']) {
      for (const scope of ['s', 't']) {
        for (const key of ['1', '2']) all.push(await put(store, { tenant, scope, key }))
      }
    }
    for (const query of [
      {},
      { tenant: 'a' },
      { tenant: 'b', scope: 's' },
      { tenant: 'b', scope: 't', key: '2' },
      { key: '1' },
    ]) {
      const expected = all.filter((receipt) =>
        Object.entries(query).every(([part, name]) => receipt[part as 'key'] === name),
      )
      const listed = (await events(store, query, 3)).map(addressOf)
      same(listed, expected.map(addressOf), `the log must be filtered by address: ${JSON.stringify(query)}`)
    }
  },

  'gives the log oldest first, each event once, and lets a reader follow it': async ({ store }) => {
    const keys: string[] = []
    for (let i = 0; i < 11; i++) keys.push((await put(store)).key)
    const seen: string[] = []
    let cursor: string | undefined
    for (let page = 0; page < 4; page++) {
      const read = await store.audit({ limit: 4, cursor })
      holds(read.events.length <= 4, 'a page must not be longer than its limit')
      seen.push(...read.events.map(({ key }) => key))
      cursor = read.cursor
    }
    same(seen, keys, 'the log must be oldest first, each event once')
    const later = [(await put(store)).key, (await put(store)).key]
    const followed = await store.audit({ limit: 10, cursor })
    same(
      followed.events.map(({ key }) => key),
      later,
      'the cursor of the last page must lead to what came after it',
    )
  },

  'gives the log from a time on': async ({ store, advance }) => {
    const all = await inTime(store, advance)
    const since = (all[3] as AuditEvent).at
    const wanted = all.filter(({ at }) => at >= since).map(({ key }) => key)
    for (const limit of [2, 50]) {
      const listed = (await events(store, { since }, limit)).map(({ key }) => key)
      same(listed, wanted, 'since must leave out what came before it, and nothing else')
    }
    const { tenant, scope, key } = all[3] as AuditEvent
    const one = await events(store, { tenant, scope, key, since })
    same(one, [all[3]], 'since must include the very instant, for one address too')
    same(
      await events(store, { tenant, scope, key, since: since + 1 }),
      [],
      'since must not give what is older',
    )
    same(await events(store, { since: since + 86_400_000 }), [], 'nothing is younger than the future')
  },

  'gives the log newest first, each event once, to its beginning': async ({ store, advance }) => {
    const all = await inTime(store, advance)
    const backwards = all.toReversed().map(({ key }) => key)
    for (const limit of [1, 3, all.length, 50]) {
      const listed = (await lookBack(store, {}, limit)).map(({ key }) => key)
      same(listed, backwards, `pages of ${limit} must give each event once, newest first`)
    }
    const since = (all[4] as AuditEvent).at
    const late = all.filter(({ at }) => at >= since).toReversed()
    same(await lookBack(store, { since }, 2), late, 'newest first must go together with since')
    const receipt = await put(store, { key: 'looked back on' })
    await swapped(store, change(receipt, 'succeeded'))
    const address = addressOf(receipt)
    const names = (await lookBack(store, address, 1)).map(({ event }) => event)
    same(names, ['settled', 'claimed'], 'newest first must hold for one address too')
    const { scope } = receipt
    const [newest] = await lookBack(store, { scope }, 50)
    same(newest?.key, receipt.key, 'newest first must go together with the other filters')
  },

  'lets a reader follow the log while others write': async ({ store }) => {
    const wanted = Array.from({ length: 120 }, () => draft())
    const writing = { now: true }
    const writers = [0, 1, 2, 3].map(async (lane) => {
      for (let i = lane; i < wanted.length; i += 8) {
        await store.claim([wanted[i], wanted[i + 4]].filter((one) => one !== undefined))
      }
    })
    const written = Promise.all(writers).finally(() => (writing.now = false))
    const [seen] = await Promise.all([follow(store, writing), written])
    same(
      seen.toSorted(),
      wanted.map(({ key }) => key).toSorted(),
      'a reader who follows the log must miss nothing',
    )
  },
})

/** Every key in the log, in small pages, until nothing is written any more. */
async function follow(store: Store, writing: { readonly now: boolean }): Promise<readonly string[]> {
  const seen: string[] = []
  let cursor: string | undefined
  for (let idle = 0; idle < 2;) {
    const wasWriting = writing.now
    const page = await store.audit({ limit: 7, cursor })
    seen.push(...page.events.map(({ key }) => key))
    holds(seen.length < 10_000, 'a cursor must lead on, not back to what was read')
    cursor = page.cursor
    if (page.events.length === 0 && !wasWriting) idle++
    else await new Promise(setImmediate)
  }
  return seen
}

/** Seven events, each at a time of its own, as the log has them. */
async function inTime(store: Store, advance: (ms: number) => Promise<void>): Promise<readonly AuditEvent[]> {
  for (let i = 0; i < 7; i++) {
    await put(store)
    await advance(2)
  }
  return await events(store, {})
}

/** The log backwards, page by page, until there is no cursor. */
export async function lookBack(
  store: Store,
  query: Omit<AuditQuery, 'limit'>,
  limit: number,
): Promise<readonly AuditEvent[]> {
  const all: AuditEvent[] = []
  let cursor: string | undefined
  for (let page = 0; page < 1_000; page++) {
    const read = await store.audit({ ...query, newestFirst: true, limit, cursor })
    holds(read.events.length <= limit, 'a page must not be longer than its limit')
    all.push(...read.events)
    if (read.cursor === undefined) return all
    cursor = read.cursor
  }
  holds(false, 'newest first, the log must come to an end: a thousand pages, and still a cursor')
}

/** The whole log, page by page. */
export async function events(
  store: Store,
  query: Omit<AuditQuery, 'limit'>,
  limit = 50,
): Promise<readonly AuditEvent[]> {
  const all: AuditEvent[] = []
  let cursor: string | undefined
  for (let page = 0; page < 1_000; page++) {
    const read = await store.audit({ ...query, limit, cursor })
    if (read.events.length === 0) return all
    all.push(...read.events)
    cursor = read.cursor
  }
  holds(false, 'the audit log must come to an end: a thousand pages, and still events')
}

export function eventFor(receipt: Receipt, note: Pick<AuditEvent, 'event' | 'by' | 'why'>): AuditEvent {
  const { at, state, epoch, attempt, fingerprint } = receipt
  return { ...addressOf(receipt), ...note, at, state, epoch, attempt, fingerprint, count: 1 }
}
