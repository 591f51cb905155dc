/** Transactions whose time is up, or whose lease is lost: the store is not left with an open one. */
import { EventEmitter, once } from 'node:events'
import { expect, test } from 'vitest'
import type { Store } from '../../src/store.js'
import type { MemoryTx } from '../../src/stores/memory/index.js'
import { bench, type Bench, committing, failure, INTENT, seen, turn, WHERE, within } from './bench.js'

const POLICY = { lease: '1s', timeout: '5s' } as const
const hang = (): Promise<never> => new Promise(() => {})

/** A store that says how its transactions ended. */
function watched(on: Bench): { readonly store: Store<MemoryTx>; readonly ends: string[] } {
  const ends: string[] = []
  const store = committing(on, (transact) => async (work) => {
    const ended = transact(work)
    ended.then(
      () => ends.push('committed'),
      (error: { code: string }) => ends.push(`rolled back: ${error.code}`),
    )
    return await ended
  })
  return { store, ends }
}

test('[R10] work that hangs is rolled back when its time is up, and the key is given back', async () => {
  const on = bench()
  const { store, ends } = watched(on)
  const ibid = on.open({ store })
  const error = await failure(within(on, ibid.transact(INTENT, hang, POLICY), 5_000))
  expect(error).toMatchObject({
    code: 'UPSTREAM_TIMEOUT',
    retriable: true,
    receipt: { state: 'released' },
    message: expect.stringMatching(/did not end within 5000 ms; it was rolled back/) as string,
  })
  expect(ends).toEqual(['rolled back: UPSTREAM_TIMEOUT'])
  expect((await ibid.get(WHERE))?.state).toBe('released')
  expect((await ibid.transact(INTENT, () => 'now')).value).toBe('now')
  await ibid.close()
  expect(on.time.armed).toBe(0)
})

test('[R8, R10] work that hangs is rolled back when its lease is lost', async () => {
  const on = bench()
  const { store, ends } = watched(on)
  const slow = on.time.worker()
  const late = seen(on.open({ store, timers: slow.timers }).transact(INTENT, hang, POLICY))
  await turn()
  slow.pause()
  await on.time.pass(1_000)
  await on.open().transact(INTENT, () => 'theirs')
  slow.resume()
  await on.time.pass(1_000)
  expect(late.now).toMatchObject({ state: 'failed', error: { code: 'LEASE_LOST' } })
  expect(ends).toEqual(['rolled back: LEASE_LOST'])
  expect((await on.open().get(WHERE))?.value).toBe('theirs')
})

test('[R10] a transaction that begins after its time runs nothing', async () => {
  const on = bench()
  const ibid = on.open()
  const door = on.tap.hold('transact')
  let runs = 0
  const error = await failure(
    within(
      on,
      ibid.transact(INTENT, () => ++runs, POLICY),
      5_000,
    ),
  )
  expect(error.code).toBe('UPSTREAM_TIMEOUT')
  expect((await ibid.get(WHERE))?.state).toBe('released')
  door.let()
  await turn()
  expect(runs).toBe(0)
})

test('[R10] the time is up while the receipt is written: nothing is committed behind a back', async () => {
  const on = bench()
  const swap = new EventEmitter()
  const store = committing(
    on,
    (transact) => (work) =>
      transact((tx, swapInside) =>
        work(tx, async (change) => {
          const swapped = await swapInside(change)
          await once(swap, 'answered')
          return swapped
        }),
      ),
  )
  const ibid = on.open({ store })
  // No renewal comes in between.
  const late = seen(ibid.transact(INTENT, () => 'no', { ...POLICY, lease: '1m' }))
  await on.time.pass(5_000)
  swap.emit('answered')
  await on.time.pass(100)
  expect(late.now).toMatchObject({ state: 'failed', error: { code: 'UPSTREAM_TIMEOUT' } })
  expect((await ibid.get(WHERE))?.state).toBe('released')
})

test('[R10] the key is given back after the rollback, which is waited for as long as a lease', async () => {
  const on = bench()
  const rollback = new EventEmitter()
  const store = committing(on, (transact) => async (work) => {
    try {
      return await transact(work)
    } catch (error) {
      await once(rollback, 'done')
      throw error
    }
  })
  const ibid = on.open({ store })
  const first = seen(ibid.transact(INTENT, hang, POLICY))
  await on.time.pass(5_500)
  expect(first.now.state).toBe('waiting')
  expect((await ibid.get(WHERE))?.state).toBe('pending')
  rollback.emit('done')
  await turn()
  expect(first.now).toMatchObject({ state: 'failed', error: { code: 'UPSTREAM_TIMEOUT' } })
  const second = seen(ibid.transact(INTENT, hang, POLICY))
  await on.time.pass(6_000)
  expect(second.now).toMatchObject({ state: 'failed', error: { receipt: { state: 'released' } } })
})

test('[R10, R12] the key cannot be given back when the time is up: nothing happened, and that is said', async () => {
  const on = bench()
  const first = seen(on.open().transact(INTENT, hang, POLICY))
  await on.time.pass(4_900)
  on.tap.outage()
  await on.time.pass(5_000)
  expect(first.now).toMatchObject({ state: 'failed', error: { code: 'STORE_UNAVAILABLE' } })
  expect((first.now as { error: Error }).error.message).toMatch(/nothing happened/)
})
