/**
 * The clock rule under skew, on an emulator whose Date header is this computer's clock. A lease is never taken over
 * early by a process whose clock is off within the bound, and a clock beyond the bound is refused.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startDynamodb } from '../../scripts/servers/dynamodb.mjs'
import { createIbid } from '../../src/index.js'
import { createSkewWatch, isBeyond, isUndecided } from '../../src/stores/dynamodb/clock.js'
import { dynamodbStore } from '../../src/stores/dynamodb/index.js'
import type { Draft } from '../../src/core/receipt.js'
import { decide } from '../../src/core/transitions.js'
import { createClock } from '../../src/testing/index.js'
import { type Emulator, freshTable } from './table.js'

const LEASE_MS = 1_500
const BOUND_MS = 1_000

const wanted: Draft = {
  tenant: 'acme',
  scope: 'refund',
  key: 'wf_81:step_3',
  fingerprint: 'f',
  state: 'pending',
  token: 'first',
  attempt: 1,
  maxAttempts: 5,
  recovery: 'retry',
  leaseMs: LEASE_MS,
  windowMs: 86_400_000,
  outcome: null,
  epoch: null,
  createdAt: null,
  forMs: LEASE_MS,
  audit: { event: 'claimed' },
}

describe('DynamoDB store: the clock rule, on an emulator', () => {
  let emulator: Emulator
  beforeAll(async () => {
    emulator = await startDynamodb()
  })
  afterAll(async () => await emulator.stop())

  for (const [owner, other] of [
    [-BOUND_MS, BOUND_MS],
    [BOUND_MS, -BOUND_MS],
    [0, 0],
  ] as const) {
    it(`[R61] lets no lease end early: the owner ${owner} ms off, the other ${other} ms`, async () => {
      const options = { ...(await freshTable(emulator)), maxSkewMs: BOUND_MS }
      const mine = dynamodbStore({ ...options, clock: createClock(owner) })
      const theirs = dynamodbStore({ ...options, clock: createClock(other) })
      // The first calls load the SDK and connect: before the clock runs.
      await Promise.all([mine.check(), theirs.check()])
      const early: number[] = []
      let looks = 0
      const startMs = performance.now()
      expect((await mine.claim([wanted]))[0]?.won).toBe(true)
      for (;;) {
        const [found] = await theirs.claim([{ ...wanted, token: 'second' }])
        if (found?.won !== false) throw new Error('a lease that is there cannot be claimed over')
        const { now, receipts } = await theirs.get([wanted])
        const lapsed = [
          decide(found.found, 'f', 'retry', found.now).kind === 'move',
          now >= (receipts[0]?.until as number),
          (await theirs.scan({ states: ['pending'], ended: true, limit: 1 })).receipts.length > 0,
        ]
        const elapsedMs = performance.now() - startMs
        if (elapsedMs < LEASE_MS) looks++
        if (elapsedMs < LEASE_MS && lapsed.includes(true)) early.push(elapsedMs)
        if (lapsed.every(Boolean)) break
        await sleep(20)
      }
      expect(early).toEqual([])
      expect(looks).toBeGreaterThan(0)
      await Promise.all([mine.close(), theirs.close()])
    })
  }

  it('[R7][R61] runs an effect once when the clocks are apart as far as they may', async () => {
    const options = { ...(await freshTable(emulator)), maxSkewMs: BOUND_MS }
    const open = (offsetMs: number) =>
      createIbid({ store: dynamodbStore({ ...options, clock: createClock(offsetMs) }), tenant: 'acme' })
    const behind = open(-BOUND_MS)
    const ahead = open(BOUND_MS)
    const intent = { scope: 'refund', key: 'k', payload: { amount: 1 } }
    const policy = { lease: 400, wait: '30s', recovery: 'retry' } as const
    let effects = 0
    const running = behind.once(
      intent,
      async () => {
        await sleep(1_500)
        return ++effects
      },
      policy,
    )
    await sleep(200)
    const second = await ahead.once(intent, async () => ++effects, policy)
    expect([(await running).value, second.value, second.replayed, effects]).toEqual([1, 1, true, 1])
    await Promise.all([behind.close(), ahead.close()])
  })

  it('[R8] does not let an epoch go back after a purge, whoever claims next', async () => {
    const options = { ...(await freshTable(emulator)), maxSkewMs: 50 }
    const ahead = dynamodbStore({ ...options, clock: createClock(50) })
    const behind = dynamodbStore({ ...options, clock: createClock(-50) })
    const [first] = await ahead.claim([wanted])
    const owned = { token: wanted.token, state: 'pending' } as const
    await ahead.swap([{ expect: owned, next: { ...wanted, epoch: 1, state: 'released', forMs: 0 } }])
    while ((await ahead.purge(10, 86_400_000)).receipts === 0) await sleep(5)
    const [second] = await behind.claim([wanted])
    if (!first?.won || !second?.won) throw new Error('both addresses were free')
    expect(second.epoch).toBeGreaterThan(first.epoch)
    await Promise.all([ahead.close(), behind.close()])
  })

  for (const offsetMs of [-60_000, 60_000, 2_600, -2_600]) {
    it(`[R55][R61] refuses a clock that is ${offsetMs} ms off, and works again when it is set`, async () => {
      const clock = createClock(offsetMs)
      const store = dynamodbStore({ ...(await freshTable(emulator)), maxSkewMs: 1_000, clock })
      const { findings, facts } = await store.check()
      expect(findings.map(({ level, code }) => [level, code])).toEqual([['error', 'CLOCK_SKEW']])
      expect(Math.abs(Number(facts['clockAheadMs']) - offsetMs)).toBeLessThan(1_000)
      await expect(store.claim([wanted])).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
      clock.set(Date.now())
      await store.check()
      expect((await store.claim([wanted]))[0]?.won).toBe(true)
      await store.close()
    })
  }

  it('[R55] tells a clock that is near enough', async () => {
    const store = dynamodbStore({ ...(await freshTable(emulator)), clock: createClock(200) })
    const { findings, facts } = await store.check()
    expect(findings).toEqual([])
    expect(facts).toMatchObject({ maxSkewMs: 1_000, timeToLive: 'ENABLED' })
    await store.close()
  })

  it('notices a clock that is set wrong while it works', async () => {
    const clock = createClock()
    const store = dynamodbStore({ ...(await freshTable(emulator)), clock })
    expect((await store.claim([wanted]))[0]?.won).toBe(true)
    clock.advance(10_000)
    await expect(store.get([wanted])).rejects.toThrow('ahead of')
    await expect(store.claim([{ ...wanted, key: 'other' }])).rejects.toThrow('1000 ms are allowed')
    clock.advance(-10_000)
    expect((await store.get([wanted])).receipts[0]?.token).toBe('first')
    expect((await store.get([{ ...wanted, key: 'other' }])).receipts).toEqual([undefined])
    await store.close()
  })
})

describe('DynamoDB store: what Date headers show of a clock', () => {
  it('narrows with every answer, and never excludes the truth', () => {
    for (const aheadMs of [-3_000, -400, 0, 1, 999, 1_700]) {
      const watch = createSkewWatch(() => 0)
      for (let i = 0; i < 60; i++) {
        const serverMs = 1_790_000_000_000 + i * 137
        watch.sample(second(serverMs), serverMs + aheadMs - 4, serverMs + aheadMs + 6)
        const { atLeastMs, atMostMs } = watch.measured() ?? { atLeastMs: Number.NaN, atMostMs: Number.NaN }
        expect(atLeastMs).toBeLessThanOrEqual(aheadMs)
        expect(atMostMs).toBeGreaterThanOrEqual(aheadMs)
      }
      const { atLeastMs, atMostMs } = watch.measured() ?? { atLeastMs: 0, atMostMs: Number.NaN }
      expect(atMostMs - atLeastMs).toBeLessThan(300)
    }
  })

  it('forgets what a clock that was set has made untrue, and what is old', () => {
    let elapsedMs = 0
    const watch = createSkewWatch(() => elapsedMs)
    watch.sample(second(1_790_000_000_000), 1_790_000_000_000, 1_790_000_000_010)
    watch.sample(second(1_790_000_000_000), 1_790_000_009_000, 1_790_000_009_010)
    expect(watch.measured()).toEqual({ atLeastMs: 8_000, atMostMs: 9_010 })
    elapsedMs += 61_000
    expect(watch.measured()).toBeUndefined()
    watch.sample('no date', 0, 0)
    expect(watch.measured()).toBeUndefined()
  })

  it('is sure only of what is proved', () => {
    expect(isBeyond({ atLeastMs: 900, atMostMs: 1_900 }, 1_000)).toBe(false)
    expect(isUndecided({ atLeastMs: 900, atMostMs: 1_900 }, 1_000)).toBe(true)
    expect(isBeyond({ atLeastMs: 1_001, atMostMs: 2_001 }, 1_000)).toBe(true)
    expect(isBeyond({ atLeastMs: -2_500, atMostMs: -1_500 }, 1_000)).toBe(true)
    expect(isUndecided({ atLeastMs: -400, atMostMs: 600 }, 1_000)).toBe(false)
  })
})

function second(ms: number): string {
  return new Date(Math.floor(ms / 1_000) * 1_000).toUTCString()
}
