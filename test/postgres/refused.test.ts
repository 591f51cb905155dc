/** A value that the server refuses: whose it is gets told, and the others of the batch are done all the same. */
import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'pg'
import postgres from 'postgres'
import { afterAll, describe, expect, it } from 'vitest'
import type { AuditEvent } from '../../src/core/audit.js'
import type { Receipt } from '../../src/core/receipt.js'
import { createIbid } from '../../src/index.js'
import { change, draft, put } from '../../src/testing/store/drafts.js'
import { withPostgres } from './bench.js'

const bench = withPostgres()
const ends: (() => Promise<unknown>)[] = []

afterAll(async () => {
  for (const end of ends) await end()
})

const connections = {
  'a URL': () => bench.server.url,
  'a pool of pg': () => {
    const pool = new Pool({ connectionString: bench.server.url })
    ends.push(() => pool.end())
    return pool
  },
  'postgres.js': () => {
    const sql = postgres(bench.server.url, { max: 4, onnotice: () => {} })
    ends.push(() => sql.end())
    return sql
  },
}

/** No text of Postgres has one; the engine never writes one, but into an error's message anybody can. */
const NUL = 'a\0b'
const REFUSED = { code: '22021' }

describe.each(Object.entries(connections))('over %s', (_name, connection) => {
  it('[R3] a settlement that is refused takes no other with it', async () => {
    const store = bench.open({}, connection())
    const receipts = [await put(store), await put(store), await put(store), await put(store)]
    const batch = receipts.map((receipt, i) =>
      change(receipt, 'succeeded', { outcome: i === 1 ? NUL : '{"value":1}' }),
    )
    await expect(store.swap(batch)).rejects.toMatchObject(REFUSED)
    const { receipts: now } = await store.get(receipts)
    const states = ['succeeded', 'pending', 'succeeded', 'succeeded']
    expect(now.map((receipt) => receipt?.state)).toEqual(states)
  })

  it('a claim that is refused takes no other with it', async () => {
    const store = bench.open({}, connection())
    const batch = Array.from({ length: 40 }, (_, i) => draft(i === 17 ? { outcome: NUL } : {}))
    await expect(store.claim(batch)).rejects.toMatchObject(REFUSED)
    const { receipts } = await store.get(batch)
    expect(receipts.flatMap((receipt, i) => (receipt === undefined ? [i] : []))).toEqual([17])
  })

  it('[R50] an event that is refused takes no other with it, and they stay in their order', async () => {
    const store = bench.open({}, connection())
    const receipt = await put(store)
    const batch = ['1', '2', NUL, '3', '4'].map((fingerprint) => hit(receipt, fingerprint))
    await expect(store.record(batch)).rejects.toMatchObject(REFUSED)
    const { events } = await store.audit({ limit: 10 })
    expect(events.slice(1).map(({ fingerprint }) => fingerprint)).toEqual(['1', '2', '3', '4'])
  })
})

function hit({ tenant, scope, key, epoch, attempt }: Receipt, fingerprint: string): AuditEvent {
  return { tenant, scope, key, epoch, attempt, fingerprint, at: 0, state: null, count: 1, event: 'dedup_hit' }
}

it('[R3, R9] an effect whose error has a NUL in its message is held, and those beside it are kept', async () => {
  const ibid = createIbid({ store: bench.open(), tenant: 'acme', housekeeping: false })
  // All of them end in the same moment, and are settled in one batch.
  const together = sleep(200)
  const calls = Array.from({ length: 40 }, (_, i) =>
    ibid.once({ scope: 's', key: `key ${i}`, payload: i }, async () => {
      await together
      return JSON.parse(i === 20 ? '\0{}' : String(i)) as number
    }),
  )
  const ended = await Promise.allSettled(calls)
  const codes = ended.map((one) => (one.status === 'fulfilled' ? one.value.value : one.reason.code))
  expect(codes).toEqual(Array.from({ length: 40 }, (_, i) => (i === 20 ? 'OUTCOME_UNKNOWN' : i)))
  const [held] = (await ibid.history({ scope: 's', key: 'key 20' })).slice(-1)
  expect(held).toMatchObject({ event: 'held', why: expect.stringContaining('\uFFFD') })
  await ibid.close()
})

it('a cursor that this store cannot have given is refused as one; from those that it gave, pages go on', async () => {
  const store = bench.open()
  await put(store)
  await put(store)
  const refusal = { code: 'INVALID_INTENT', retriable: false }
  for (const cursor of ['junk', '[]', '{}', 'null', 'no-digest', '-1', '1.5'])
    await expect(store.scan({ limit: 1, cursor }), cursor).rejects.toMatchObject(refusal)
  for (const cursor of ['junk', '-1', '1.5']) {
    for (const newestFirst of [false, true])
      await expect(store.audit({ limit: 1, cursor, newestFirst }), cursor).rejects.toMatchObject(refusal)
  }
  const { cursor } = await store.scan({ limit: 1 })
  expect((await store.scan({ limit: 1, cursor })).receipts).toHaveLength(1)
})
