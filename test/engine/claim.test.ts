/** Claims over a store that loses answers or does not answer: nothing runs without one, and nothing is left held. */
import { expect, test } from 'vitest'
import { ownerDraft } from '../../src/core/drafts.js'
import type { Draft, Receipt } from '../../src/core/receipt.js'
import type { Ibid } from '../../src/index.js'
import type { MemoryTx } from '../../src/stores/memory/index.js'
import { bench, type Bench, INTENT, leaveBehind, seen, turn, WHERE } from './bench.js'

test('[R2, R61] a claim whose answer was lost runs once, and is not held', async () => {
  const on = bench()
  const ibid = on.open()
  let runs = 0
  on.tap.failAfter('claim')
  const first = seen(ibid.once(INTENT, () => ++runs))
  await on.time.pass(1_000)
  expect(first.now).toMatchObject({ state: 'done', value: { value: 1, replayed: false } })
  expect((await ibid.get(INTENT))?.state).toBe('succeeded')
  expect(runs).toBe(1)
})

test('[R12] a store that is away: refused with a structured error, and the effect is not called', async () => {
  const on = bench()
  const ibid = on.open()
  await ibid.check()
  await ibid.once({ ...INTENT, key: 'warm' }, () => 0)
  on.tap.outage()
  let runs = 0
  const first = seen(ibid.once(INTENT, () => ++runs))
  await on.time.pass(1_000)
  expect(first.now).toMatchObject({ state: 'failed', error: { code: 'STORE_UNAVAILABLE', retriable: true } })
  expect((first.now as { error: Error }).error.message).toMatch(/nothing was executed/)
  expect(runs).toBe(0)
})

test('[R12, R14] a claim that was written in an outage is given back when the store is there again', async () => {
  const on = bench()
  const ibid = on.open()
  await ibid.once({ ...INTENT, key: 'warm' }, () => 0)
  on.tap.failAfter('claim', 3)
  const first = seen(ibid.once(INTENT, () => 'no'))
  await on.time.pass(200)
  expect(first.now).toMatchObject({ state: 'failed', error: { code: 'STORE_UNAVAILABLE' } })
  on.tap.failBefore('get', 2)
  await on.time.pass(1_000)
  expect((await on.open().get(INTENT))?.state).toBe('released')
  const history = await ibid.history(INTENT)
  expect(history.at(-1)).toMatchObject({
    event: 'released',
    why: 'the claim was never answered, nothing ran',
  })
  expect((await ibid.once(INTENT, () => 'now')).value).toBe('now')
})

test('[R8] giving back touches nobody else: a key that somebody else runs stays theirs', async () => {
  const on = bench()
  const ibid = on.open()
  await ibid.once({ ...INTENT, key: 'warm' }, () => 0)
  on.tap.failBefore('claim', 3)
  const first = seen(ibid.once(INTENT, () => 'no'))
  await on.time.pass(130)
  expect(first.now.state).toBe('failed')
  await leaveBehind(on, { lease: '1m' })
  await on.time.pass(5_000)
  expect((await ibid.get(INTENT))?.state).toBe('pending')
})

test('[R12] giving back stops with the lease: what it could not say by then, the policy decides', async () => {
  const on = bench()
  const ibid = on.open()
  await ibid.once({ ...INTENT, key: 'warm' }, () => 0)
  on.tap.failAfter('claim', 3)
  void ibid.once(INTENT, () => 'no', { lease: '5s' }).catch(() => undefined)
  await on.time.pass(130)
  on.tap.outage()
  await on.time.pass(20_000)
  expect(on.time.armed).toBe(0)
})

/** A claim whose three tries are not answered, and that is written when the test says so. */
async function unseen(on: Bench, ibid: Ibid<MemoryTx>): Promise<{ appear(): Promise<void> }> {
  await ibid.once({ ...INTENT, key: 'warm' }, () => 0)
  on.tap.failBefore('claim', 3)
  void ibid.once(INTENT, () => 'no', { lease: '12s' }).catch(() => undefined)
  await on.time.pass(130)
  const wanted = on.tap.calls.findLast(({ verb }) => verb === 'claim')?.argument as Draft[]
  return { appear: async () => void (await on.inner.claim(wanted)) }
}

test('[R12, R14] a claim that can be seen only later is given back all the same, before its lease ends', async () => {
  const on = bench()
  const ibid = on.open()
  const claim = await unseen(on, ibid)
  await on.time.pass(4_000)
  await claim.appear()
  expect((await ibid.get(INTENT))?.state).toBe('pending')
  await on.time.pass(8_000)
  expect((await ibid.get(INTENT))?.state).toBe('released')
  expect((await ibid.once(INTENT, () => 'now')).value).toBe('now')
})

test('[R12] a claim that never appears is looked for until its lease would be over, and not after', async () => {
  const on = bench()
  await unseen(on, on.open())
  const before = on.tap.count('get')
  await on.time.pass(12_100)
  expect(on.tap.count('get') - before).toBeLessThan(12)
  expect(on.time.armed).toBe(0)
})

test('[R8] looking for a claim ends where somebody else has the key', async () => {
  const on = bench()
  await unseen(on, on.open())
  await on.open().once(INTENT, () => 'theirs')
  await on.time.pass(500)
  expect(on.time.armed).toBe(0)
  expect((await on.open().get(INTENT))?.value).toBe('theirs')
})

test('[R12] close does not wait for a claim that is being looked for, and leaves no timer', async () => {
  const on = bench()
  const ibid = on.open()
  await unseen(on, ibid)
  await on.time.pass(500)
  expect(on.time.armed).toBe(1)
  const door = on.tap.hold('get')
  await on.time.pass(1_000)
  expect(door.waiting).toBe(1)
  await ibid.close()
  expect(on.time.armed).toBe(0)
  door.let()
  await on.time.pass(100)
  expect(on.time.armed).toBe(0)
})

test('[R7, R61] a takeover whose answer was lost runs once', async () => {
  const on = bench()
  await leaveBehind(on, { lease: '1s', recovery: 'retry' })
  await on.time.pass(1_000)
  on.tap.failAfter('swap')
  let runs = 0
  const second = seen(on.open().once(INTENT, () => ++runs, { recovery: 'retry' }))
  await on.time.pass(1_000)
  expect(second.now).toMatchObject({ state: 'done', value: { value: 1, receipt: { attempt: 2 } } })
  expect(runs).toBe(1)
})

test('[R7, R12] a takeover that is never answered is not given back: the first attempt may have done it', async () => {
  const on = bench()
  await leaveBehind(on, { lease: '1s', recovery: 'retry' })
  await on.time.pass(1_000)
  on.tap.failAfter('swap')
  const second = seen(on.open().once(INTENT, () => 'no', { recovery: 'retry', lease: '30s' }))
  await on.time.pass(10)
  expect((await on.open().get(INTENT))?.attempt).toBe(2)
  on.tap.failBefore('claim', 3)
  await on.time.pass(500)
  expect(second.now).toMatchObject({ state: 'failed', error: { code: 'STORE_UNAVAILABLE' } })
  await on.time.pass(20_000)
  expect(await on.open().get(INTENT)).toMatchObject({ state: 'pending', attempt: 2 })
})

test('[R8] a takeover that meets a renewal: the lease is alive again, and stays with its owner', async () => {
  const on = bench()
  await leaveBehind(on, { lease: '1s', recovery: 'retry' })
  await on.time.pass(1_000)
  const door = on.tap.hold('swap')
  let runs = 0
  const second = seen(on.open().once(INTENT, () => ++runs, { recovery: 'retry', wait: 0 }))
  await turn()
  expect(door.waiting).toBe(1)
  const mine = (await on.inner.get([WHERE])).receipts[0] as Receipt
  const next = ownerDraft(mine, 'renew', null)
  await on.inner.swap([{ expect: { token: mine.token, state: mine.state }, next }])
  door.let()
  await on.time.pass(1)
  expect(second.now).toMatchObject({ state: 'failed', error: { code: 'RETRY_IN_FLIGHT' } })
  expect(runs).toBe(0)
})

test('[R12] a store that answers claims and refuses every change is unavailable, not asked for ever', async () => {
  const on = bench()
  await leaveBehind(on, { lease: '1s', recovery: 'retry' })
  await on.time.pass(1_000)
  on.tap.failBefore('swap', 1_000)
  const second = seen(on.open().once(INTENT, () => 'no', { recovery: 'retry' }))
  for (let i = 0; i < 20; i++) await on.time.pass(1_000)
  expect(second.now).toMatchObject({ state: 'failed', error: { code: 'STORE_UNAVAILABLE', retriable: true } })
  expect(on.tap.count('swap')).toBeLessThan(50)
})

test('[R12] a store that fails while a slept-over lease is asked about: a structured error, nothing ran', async () => {
  const on = bench()
  const { claim } = on.store
  const slow = {
    ...on.store,
    async claim(wanted: Parameters<typeof claim>[0]) {
      const claimed = await claim(wanted)
      on.time.clock.advance(2_000)
      on.tap.failBefore('swap', 1_000)
      return claimed
    },
  }
  let runs = 0
  const first = seen(on.open({ store: slow }).once(INTENT, () => ++runs, { lease: '3s' }))
  await on.time.pass(10_000)
  expect(first.now).toMatchObject({ state: 'failed', error: { code: 'STORE_UNAVAILABLE' } })
  expect(runs).toBe(0)
})

test('[R2] there is no read before the claim: the first thing asked of the store is the claim itself', async () => {
  const on = bench()
  const ibid = on.open()
  await ibid.once(INTENT, () => 1)
  await ibid.once({ ...INTENT, key: 'two' }, () => 2)
  expect(on.tap.calls.map(({ verb }) => verb)).toEqual(['check', 'claim', 'swap', 'claim', 'swap'])
})

test('[R3] the key is reserved as pending, with a lease, before the effect starts', async () => {
  const on = bench()
  let during: unknown
  await on.open().once(
    INTENT,
    async () => {
      during = (await on.store.get([WHERE])).receipts[0]
    },
    { lease: '7s' },
  )
  await turn()
  expect(during).toMatchObject({ state: 'pending', until: on.time.clock.now() + 7_000, attempt: 1 })
})
