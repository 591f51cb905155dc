/** Held receipts are listed and resolved by a person, with who and why on record; and reading them. */
import { expect, test } from 'vitest'
import { OutcomeUnknown, Rejected } from '../../src/index.js'
import { bench, type Bench, failure, INTENT, leaveBehind, manual, turn, WHERE } from './bench.js'

const unknown = (): Promise<never> => Promise.reject(new OutcomeUnknown('no'))
const ADA = { by: 'ada', why: 'looked it up at the bank' }

async function held(): Promise<Bench> {
  const on = bench()
  await failure(on.open().once(INTENT, () => Promise.reject(new OutcomeUnknown('timeout'))))
  return on
}

test('[R14] resolved as succeeded: every duplicate gets the value, and the log says who and why', async () => {
  const on = await held()
  const ibid = on.open()
  expect(await ibid.resolve(WHERE, { as: 'succeeded', value: { id: 're_1' } }, ADA)).toMatchObject({
    state: 'succeeded',
  })
  expect(await ibid.once(INTENT, () => 'no')).toMatchObject({ value: { id: 're_1' }, replayed: true })
  const resolved = (await ibid.history(WHERE)).find(({ event }) => event === 'resolved')
  expect(resolved).toMatchObject({ ...ADA, state: 'succeeded' })
})

test('[R14] resolved as failed: every duplicate gets the refusal', async () => {
  const on = await held()
  const ibid = on.open()
  await ibid.resolve(WHERE, { as: 'failed', error: { code: 'BANK_SAID_NO', message: 'declined' } }, ADA)
  expect(await failure(ibid.once(INTENT, () => 'no'))).toMatchObject({
    code: 'BANK_SAID_NO',
    message: 'declined',
  })
  expect((await ibid.get(WHERE))?.error).toBeInstanceOf(Rejected)
})

test('[R14] resolved as released: the same call runs', async () => {
  const on = await held()
  const ibid = on.open()
  await ibid.resolve(WHERE, { as: 'released' }, ADA)
  expect(await ibid.once(INTENT, () => 'ran')).toMatchObject({ value: 'ran', replayed: false })
})

test('[R14] a lapsed receipt under hold is held, and can be resolved before anybody swept it', async () => {
  const on = bench()
  await leaveBehind(on, { lease: '1s' })
  await on.time.pass(1_000)
  const ibid = on.open()
  await ibid.resolve(WHERE, { as: 'succeeded', value: 1 }, ADA)
  expect((await ibid.once(INTENT, () => 'no')).value).toBe(1)
})

test('[R8, R14] only a held receipt can be resolved: not a settled one, not a running one', async () => {
  const on = bench()
  const ibid = on.open()
  const missing = await failure(ibid.resolve(WHERE, { as: 'released' }, ADA))
  expect(missing).toMatchObject({ code: 'NOT_HELD', retriable: false })
  const work = manual()
  const first = ibid.once(INTENT, work.effect)
  await turn()
  expect((await failure(ibid.resolve(WHERE, { as: 'released' }, ADA))).code).toBe('NOT_HELD')
  await work.succeed('settled')
  await first
  expect((await failure(ibid.resolve(WHERE, { as: 'succeeded', value: 'other' }, ADA))).code).toBe('NOT_HELD')
  expect((await ibid.get(WHERE))?.value).toBe('settled')
  const retried = { ...INTENT, key: 'retried' }
  await leaveBehind(on, { lease: '1s', recovery: 'retry' }, retried)
  await on.time.pass(1_000)
  expect((await failure(ibid.resolve(retried, { as: 'released' }, ADA))).code).toBe('NOT_HELD')
})

test('[R14] who and why are texts of 1 to 1000 characters', async () => {
  const on = await held()
  const ibid = on.open()
  const most = 'x'.repeat(1_000)
  for (const bad of [{ by: '' }, { by: ' ' }, { why: '' }, { by: `${most}x` }, { why: `${most}x` }])
    expect((await failure(ibid.resolve(WHERE, { as: 'released' }, { ...ADA, ...bad }))).code).toBe(
      'INVALID_INTENT',
    )
  expect(await ibid.resolve(WHERE, { as: 'released' }, { by: most, why: most })).toMatchObject({
    state: 'released',
  })
})

test('[R14] two people at once: one of them decides, the other is told', async () => {
  const on = await held()
  const ends = await Promise.allSettled([
    on.open().resolve(WHERE, { as: 'succeeded', value: 1 }, ADA),
    on.open().resolve(WHERE, { as: 'released' }, { by: 'bob', why: 'guess' }),
  ])
  expect(ends.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  const lost = ends.find(({ status }) => status === 'rejected') as PromiseRejectedResult
  expect((lost.reason as { code: string }).code).toBe('NOT_HELD')
})

test('[R8, R14] who looked up an attempt does not resolve the one that came after it', async () => {
  const on = await held()
  const ibid = on.open()
  const { epoch } = (await ibid.get(WHERE)) ?? {}
  await ibid.resolve(WHERE, { as: 'released' }, ADA)
  await failure(ibid.once(INTENT, unknown))
  const late = ibid.resolve(WHERE, { as: 'released' }, { by: 'bob', why: 'nothing at the bank', epoch })
  expect(await failure(late)).toMatchObject({ code: 'NOT_HELD', receipt: { state: 'unknown' } })
  const { epoch: now, state } = (await ibid.get(WHERE)) ?? {}
  expect(state).toBe('unknown')
  expect(await ibid.resolve(WHERE, { as: 'released' }, { ...ADA, epoch: now })).toMatchObject({
    state: 'released',
  })
})

test('[R14, R61] a change that the client sent twice was made: nobody is told that nothing was changed', async () => {
  const on = await held()
  const twice: typeof on.store.swap = async (changes) => {
    await on.store.swap(changes)
    return await on.store.swap(changes)
  }
  const events: string[] = []
  const ibid = on.open({
    store: { ...on.store, swap: twice },
    audit: (told) => void events.push(...told.map(({ event }) => event)),
  })
  const resolved = await ibid.resolve(WHERE, { as: 'succeeded', value: 1 }, ADA)
  expect(resolved).toMatchObject({ state: 'succeeded' })
  expect(events).toEqual(['resolved'])
  expect(await ibid.once(INTENT, () => 'no')).toMatchObject({ value: 1, replayed: true })
})

test.each([
  ['another value', { as: 'succeeded', value: 2 } as const],
  ['another end', { as: 'released' } as const],
])('[R8, R14] a change that met %s of somebody else is refused', async (_name, theirs) => {
  const on = await held()
  const overtaken: typeof on.store.swap = async (changes) => {
    await on.open().resolve(WHERE, theirs, { by: 'bob', why: 'guess' })
    return await on.store.swap(changes)
  }
  const ibid = on.open({ store: { ...on.store, swap: overtaken } })
  const error = await failure(ibid.resolve(WHERE, { as: 'succeeded', value: 1 }, ADA))
  expect(error).toMatchObject({ code: 'NOT_HELD', receipt: { state: theirs.as } })
})

test.each(['get', 'swap'] as const)('[R12] a store that fails in %s: a structured error', async (verb) => {
  const on = await held()
  const ibid = on.open()
  on.tap.failBefore(verb)
  const error = await failure(ibid.resolve(WHERE, { as: 'released' }, ADA))
  expect(error).toMatchObject({ code: 'STORE_UNAVAILABLE', retriable: true })
  expect(await ibid.resolve(WHERE, { as: 'released' }, ADA)).toMatchObject({ state: 'released' })
})

test('[R14] held receipts are listed, by state, tenant and scope, page by page', async () => {
  const on = bench()
  const ibid = on.open()
  for (let n = 0; n < 25; n++) {
    const tenant = n % 5 === 0 ? 'globex' : 'acme'
    await ibid
      .once({ tenant, scope: 's', key: `k${n}` }, n % 2 === 0 ? unknown : () => n)
      .catch(() => undefined)
  }
  const all: string[] = []
  let cursor: string | undefined
  do {
    const page = await ibid.list({ tenant: 'acme', state: 'unknown', limit: 4, cursor })
    all.push(...page.receipts.map(({ key }) => key))
    expect(page.receipts.length).toBeLessThanOrEqual(4)
    cursor = page.cursor
  } while (cursor !== undefined)
  const want = Array.from({ length: 25 }, (_, n) => n).filter((n) => n % 5 !== 0 && n % 2 === 0)
  expect(all.toSorted()).toEqual(want.map((n) => `k${n}`).toSorted())
  expect((await ibid.list({ state: ['unknown', 'succeeded'] })).receipts).toHaveLength(25)
  expect(JSON.stringify(await ibid.list())).not.toContain('token')
  const own = on.open({ tenant: 'globex' })
  expect((await own.list()).receipts.every(({ tenant }) => tenant === 'globex')).toBe(true)
})

test('[R50] the history of a receipt is whole, however long it is', async () => {
  const on = bench()
  const ibid = on.open()
  const work = manual()
  const first = ibid.once(INTENT, work.effect, { lease: '3s', timeout: '24h' })
  await turn()
  await on.time.pass(2_345_000)
  await work.succeed('end')
  await first
  const history = await ibid.history(WHERE)
  expect(history).toHaveLength(2_347)
  expect(history.map(({ event }) => event).filter((event) => event !== 'renewed')).toEqual([
    'claimed',
    'settled',
  ])
})
