/** Claims for work that runs elsewhere: whoever has the token may go on, in any process, and nobody else. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { ReceiptDetail } from '../../src/index.js'
import type { Store } from '../../src/store.js'
import type { MemoryTx } from '../../src/stores/memory/index.js'
import { type Child, startChild } from '../../src/testing/process/start.js'
import { bench, failure, INTENT, seen, WHERE, within } from './bench.js'

const TOKEN = 'a-token-of-the-callers-own-1'
const RETRY = { lease: '5s', recovery: 'retry' } as const

/** A claim that has to be won. */
async function claimed(ibid: ReturnType<ReturnType<typeof bench>['open']>, policy: object = {}) {
  const claim = await ibid.claim(INTENT, policy)
  if (!claim.claimed) throw new TypeError('it was expected to be claimed')
  return claim
}

describe('claim', () => {
  test('[R3] under a brought token twice: the second finds the first, and one is on record', async () => {
    const on = bench()
    const ibid = on.open()
    const first = await claimed(ibid, { token: TOKEN })
    expect(first).toMatchObject({ token: TOKEN, resumed: false, receipt: { state: 'pending', attempt: 1 } })
    // As another server would answer it: it has never heard of the claim.
    const second = await claimed(on.open(), { token: TOKEN })
    expect(second).toMatchObject({ token: TOKEN, resumed: true, receipt: { attempt: 1 } })
    expect(second.receipt.epoch).toBe(first.receipt.epoch)
    expect((await ibid.history(WHERE)).map(({ event }) => event)).toEqual(['claimed', 'renewed'])
  })

  test('[R6] [R4] under another token it is in flight; with another payload it is none of theirs', async () => {
    const on = bench()
    const ibid = on.open()
    await claimed(ibid, { token: TOKEN })
    const other = { token: `${TOKEN}-other` }
    expect(await failure(within(on, ibid.claim(INTENT, other)))).toMatchObject({ code: 'RETRY_IN_FLIGHT' })
    const payload = { ...INTENT, payload: 'other' }
    expect(await failure(ibid.claim(payload, { token: TOKEN }))).toMatchObject({ code: 'KEY_REUSED' })
  })

  test('[R61] a claim whose answer was lost is had again under its token', async () => {
    const on = bench()
    const ibid = on.open()
    await ibid.check()
    on.tap.failAfter('claim')
    const claim = await within(on, claimed(ibid, { token: TOKEN }), 1_000)
    expect(claim).toMatchObject({ token: TOKEN, resumed: true, receipt: { attempt: 1 } })
  })

  test('[R8] one token is one attempt: after its lease it claims nothing more', async () => {
    const on = bench()
    const ibid = on.open()
    await claimed(ibid, { ...RETRY, token: TOKEN })
    await on.time.pass(5_000)
    const spent = await failure(ibid.claim(INTENT, { ...RETRY, token: TOKEN }))
    expect(spent).toMatchObject({ code: 'INVALID_INTENT' })
    expect(spent.message).toContain('earlier attempt')
    const next = await claimed(ibid, { ...RETRY, token: `${TOKEN}-next` })
    expect(next).toMatchObject({ resumed: false, receipt: { attempt: 2 } })
  })

  test('[R7] `check`: whoever takes over is told that it is not the first', async () => {
    const on = bench()
    const ibid = on.open()
    await claimed(ibid, { lease: '5s', recovery: 'check' })
    await on.time.pass(5_000)
    const next = await claimed(ibid, { lease: '5s', recovery: 'check' })
    expect(next.receipt).toMatchObject({ attempt: 2, recovery: 'check' })
  })

  test('[R5] what is settled is given again, a refusal too', async () => {
    const on = bench()
    const ibid = on.open()
    const { token } = await claimed(ibid)
    await ibid.settle({ ...WHERE, token }, { as: 'failed', error: { code: 'NO_FUNDS', message: 'no funds' } })
    expect(await failure(on.open().claim(INTENT))).toMatchObject({ code: 'NO_FUNDS', replayed: true })
  })

  test.each(['short', 'with a space in the middle of it', 'x'.repeat(129), 7])(
    'a token that is none (%s) is refused before anything is written',
    async (token) => {
      const on = bench()
      const ibid = on.open()
      expect(await failure(ibid.claim(INTENT, { token: token as string }))).toMatchObject({
        code: 'INVALID_INTENT',
      })
      expect(await failure(ibid.renew({ ...WHERE, token: token as string }))).toMatchObject({
        code: 'INVALID_INTENT',
      })
      expect([on.tap.count('claim'), on.tap.count('swap')]).toEqual([0, 0])
    },
  )
})

describe('renew', () => {
  test('[R3] moves the lease, from any engine', async () => {
    const on = bench()
    const { token, receipt } = await claimed(on.open(), RETRY)
    await on.time.pass(4_000)
    const renewed = await on.open().renew({ ...WHERE, token })
    expect(renewed).toMatchObject({ state: 'pending', epoch: receipt.epoch })
    expect(renewed.until).toBe((receipt.until as number) + 4_000)
  })

  test('after the lease lapsed: as long as nobody took over it is still theirs, afterwards never', async () => {
    const on = bench()
    const ibid = on.open()
    const { token } = await claimed(ibid, RETRY)
    await on.time.pass(6_000)
    const renewed = await ibid.renew({ ...WHERE, token })
    expect(renewed.until).toBe(on.time.clock.now() + 5_000)
    await on.time.pass(5_000)
    const next = await claimed(on.open(), RETRY)
    expect(next.receipt.attempt).toBe(2)
    for (const engine of [ibid, on.open()])
      expect(await failure(engine.renew({ ...WHERE, token }))).toMatchObject({ code: 'LEASE_LOST' })
    expect(await ibid.get(WHERE)).toMatchObject({ attempt: 2, epoch: next.receipt.epoch })
    const names = (await ibid.history(WHERE)).map(({ event }) => event)
    expect(names.filter((name) => name === 'stale')).not.toEqual([])
  })

  test('what there is none of, and what is not theirs', async () => {
    const ibid = bench().open()
    expect(await failure(ibid.renew({ ...WHERE, token: TOKEN }))).toMatchObject({ code: 'NO_RECEIPT' })
    await claimed(ibid)
    expect(await failure(ibid.renew({ ...WHERE, token: TOKEN }))).toMatchObject({ code: 'LEASE_LOST' })
  })

  test('[R12] a store that does not answer is said so', async () => {
    const on = bench()
    const ibid = on.open()
    const { token } = await claimed(ibid)
    on.tap.failBefore('swap')
    const refused = await failure(ibid.renew({ ...WHERE, token }))
    expect(refused).toMatchObject({ code: 'STORE_UNAVAILABLE', retriable: true })
    expect(refused.message).toContain('may not have been renewed')
  })
})

describe('settle', () => {
  test('twice the same is once; something else afterwards changes nothing', async () => {
    const on = bench()
    const [ibid, other] = [on.open(), on.open()]
    const { token } = await claimed(ibid)
    const owned = { ...WHERE, token }
    const first = await ibid.settle(owned, { as: 'succeeded', value: { refund: 're_1' } })
    expect(first.state).toBe('succeeded')
    for (const engine of [ibid, other])
      expect(await engine.settle(owned, { as: 'succeeded', value: { refund: 're_1' } })).toEqual(first)
    for (const engine of [ibid, other]) {
      const late = engine.settle(owned, { as: 'succeeded', value: { refund: 're_2' } })
      expect(await failure(late)).toMatchObject({ code: 'LEASE_LOST' })
      expect(await failure(engine.settle(owned, { as: 'released' }))).toMatchObject({ code: 'LEASE_LOST' })
    }
    expect(await other.get(WHERE)).toMatchObject({ state: 'succeeded', value: { refund: 're_1' } })
    const settled = (await ibid.history(WHERE)).filter(({ event }) => event === 'settled')
    expect(settled).toHaveLength(1)
  })

  test('[R8] a zombie settles nothing after it was taken over', async () => {
    const on = bench()
    const ibid = on.open()
    const zombie = await claimed(ibid, RETRY)
    await on.time.pass(5_000)
    const next = await claimed(on.open(), RETRY)
    const late = ibid.settle({ ...WHERE, token: zombie.token }, { as: 'succeeded', value: 'late' })
    expect(await failure(late)).toMatchObject({ code: 'LEASE_LOST' })
    await ibid.settle({ ...WHERE, token: next.token }, { as: 'succeeded', value: 'right' })
    expect(await ibid.get(WHERE)).toMatchObject({ value: 'right', attempt: 2 })
  })

  test('[R61] a settling whose answer was lost is done once', async () => {
    const on = bench()
    const ibid = on.open()
    const { token } = await claimed(ibid)
    on.tap.failAfter('swap')
    const settling = ibid.settle({ ...WHERE, token }, { as: 'succeeded', value: 1 })
    expect(await within(on, settling, 1_000)).toMatchObject({ state: 'succeeded' })
    const names = (await ibid.history(WHERE)).map(({ event }) => event)
    expect(names).toEqual(['claimed', 'settled'])
  })

  test('[R9] released and held, with the reason on record', async () => {
    const ibid = bench().open()
    const first = await claimed(ibid)
    await ibid.settle({ ...WHERE, token: first.token }, { as: 'released', why: 'no slot' })
    const second = await claimed(ibid)
    expect(second.receipt.epoch).toBeGreaterThan(first.receipt.epoch)
    const held = await ibid.settle({ ...WHERE, token: second.token }, { as: 'unknown', why: 'timed out' })
    expect(held.state).toBe('unknown')
    const said = (await ibid.history(WHERE)).map(({ event, why }) => (why === undefined ? event : why))
    expect(said).toEqual(['claimed', 'no slot', 'claimed', 'timed out'])
    const long = ibid.settle({ ...WHERE, token: second.token }, { as: 'unknown', why: 'x'.repeat(1_001) })
    expect(await failure(long)).toMatchObject({ code: 'INVALID_INTENT' })
  })
})

describe('wait', () => {
  test('[R6] ends when another engine settles it, and gives what came of it', async () => {
    const on = bench()
    const { token } = await claimed(on.open(), { lease: '1m' })
    const waiting = seen(on.open().wait(WHERE, { for: '30s' }))
    await on.time.pass(10_000)
    expect(waiting.now.state).toBe('waiting')
    await on.open().settle({ ...WHERE, token }, { as: 'succeeded', value: 42 })
    await on.time.pass(1_000)
    expect(waiting.now).toMatchObject({ state: 'done', value: { state: 'succeeded', value: 42 } })
  })

  test('ends with its time, with a lapsed lease, and at once where there is nothing to wait for', async () => {
    const on = bench()
    const ibid = on.open()
    expect(await ibid.wait(WHERE, { for: '30s' })).toBeUndefined()
    await claimed(ibid, { lease: '10s' })
    const short = seen(ibid.wait(WHERE, { for: '2s' }))
    const long = seen(ibid.wait(WHERE, { for: '1m' }))
    await on.time.pass(2_000)
    expect([short.now, long.now]).toMatchObject([{ value: { state: 'pending' } }, { state: 'waiting' }])
    await on.time.pass(9_000)
    expect(long.now).toMatchObject({ state: 'done', value: { state: 'pending' } })
  })

  test('[R6] across processes: one claims and settles, the other hears of it', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'ibid-remote-'))
    const script = new URL('../fixtures/remote-worker.mjs', import.meta.url)
    const workers: Child[] = [startChild(script), startChild(script)]
    onTestFinished(async () => {
      await Promise.all(workers.map((worker) => worker.end()))
      await rm(directory, { recursive: true, force: true })
    })
    const [owner, waiter] = workers as [Child, Child]
    await Promise.all(workers.map((worker) => worker.call('open', { directory })))
    const { token } = await owner.call<{ token: string }>('claim', { token: TOKEN })
    expect(await waiter.call('claim', { token: TOKEN })).toMatchObject({ token, resumed: true })
    const waiting = waiter.call<ReceiptDetail>('wait', { for: '60s' })
    // The other process is asked only once it is seen to wait.
    await waiter.call('isWaiting', {})
    await owner.call('settle', { token, settlement: { as: 'succeeded', value: { by: 'owner' } } })
    expect(await waiting).toMatchObject({ state: 'succeeded', value: { by: 'owner' } })
    expect(await waiter.call('settle', { token, settlement: { as: 'released' } })).toMatchObject({
      code: 'LEASE_LOST',
    })
  })
})

test('[R55] a store that finds its clock too far off is reported by check(), and gives no claim away', async () => {
  const on = bench()
  const finding = {
    level: 'error',
    code: 'CLOCK_SKEW',
    message: 'this clock is 4 s ahead of the server, and 1 s is allowed',
    remedy: 'let this computer follow a time server',
  } as const
  const store: Store<MemoryTx> = {
    ...on.store,
    check: async () => ({ store: 'memory', findings: [finding], facts: {} }),
  }
  const ibid = on.open({ store })
  expect((await ibid.check()).findings).toEqual([finding])
  const refused = await failure(ibid.claim(INTENT, { token: TOKEN }))
  expect(refused).toMatchObject({ code: 'UNSAFE_STORE', retriable: false })
  expect(refused.message).toContain(finding.message)
  expect(refused.message).toContain(finding.remedy)
  for (const call of [
    ibid.renew({ ...WHERE, token: TOKEN }),
    ibid.settle({ ...WHERE, token: TOKEN }, { as: 'succeeded' }),
    ibid.wait(WHERE, { for: 0 }),
  ])
    expect(await failure(call)).toMatchObject({ code: 'UNSAFE_STORE' })
  expect([on.tap.count('claim'), on.tap.count('swap')]).toEqual([0, 0])
})

test('[R8] what is remembered of a claim is not believed when its key can have begun anew', async () => {
  const on = bench()
  const [a, b] = [on.open({ cache: false }), on.open({ cache: false })]
  const policy = { window: '1m', lease: '10s', token: TOKEN } as const
  await claimed(a, policy)
  await b.settle({ ...WHERE, token: TOKEN }, { as: 'succeeded', value: 1 })
  await on.time.pass(60_000)
  await b.sweep()
  const second = await claimed(b, policy)
  const renewed = await a.renew({ ...WHERE, token: TOKEN })
  expect(renewed.epoch).toBe(second.receipt.epoch)
  expect((await b.get(WHERE))?.epoch).toBe(second.receipt.epoch)
})
