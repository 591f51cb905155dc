/** A commit that was asked for and not answered: the caller is never told that nothing happened when it did. */
import { EventEmitter, once } from 'node:events'
import { expect, test } from 'vitest'
import type { MemoryTx } from '../../src/stores/memory/index.js'
import {
  bench,
  type Bench,
  committing,
  failure,
  INTENT,
  seen,
  type Transact,
  turn,
  WHERE,
  within,
} from './bench.js'

const LEASE = { lease: '5s' } as const
const pay = (tx: MemoryTx): string => {
  tx.set('paid', true)
  return 'paid'
}

function paid(on: Bench): Promise<unknown> {
  return (on.inner.transact as Transact)((tx) => Promise.resolve(tx.get('paid')))
}

test('[R10, R12] a commit whose answer was lost with the store: not known, and never "nothing happened"', async () => {
  const on = bench()
  let outage = { back(): void {} }
  const store = committing(on, (transact) => async (work) => {
    await transact(work)
    outage = on.tap.outage()
    throw new TypeError('connection reset')
  })
  const ibid = on.open({ store })
  const error = await failure(within(on, ibid.transact(INTENT, pay, LEASE), 10_000))
  expect(error).toMatchObject({ code: 'STORE_UNAVAILABLE', retriable: true })
  expect(error.message).toMatch(/not known whether it was committed; its receipt says so/)
  expect(error.message).not.toMatch(/nothing happened|given back/)
  outage.back()
  expect((await ibid.get(WHERE))?.state).toBe('succeeded')
  expect(await ibid.transact(INTENT, pay)).toMatchObject({ value: 'paid', replayed: true })
})

test('[R10, R61] the store is back before the lease ends: the commit is found, and its value given', async () => {
  const on = bench()
  on.tap.failAfter('transact')
  on.tap.failBefore('swap', 2)
  on.tap.failBefore('get', 2)
  const ibid = on.open()
  expect(await within(on, ibid.transact(INTENT, pay, LEASE), 5_000)).toMatchObject({
    value: 'paid',
    replayed: false,
    receipt: { state: 'succeeded' },
  })
})

test('[R10, R61] a commit that can be seen only later: the caller has the value, no lost lease', async () => {
  const on = bench()
  const standby = new EventEmitter()
  const store = committing(on, (transact) => async (work) => {
    const waiting = transact(async (tx, swap) => {
      const result = await work(tx, swap)
      await once(standby, 'back')
      return result
    })
    await Promise.race([waiting, turn()])
    throw new TypeError('no answer to the commit')
  })
  // The transaction has the receipt's lock as long as its commit waits.
  on.tap.failBefore('swap', 4)
  const late = seen(on.open({ store }).transact(INTENT, pay, LEASE))
  await on.time.pass(150)
  expect(late.now.state).toBe('waiting')
  standby.emit('back')
  await on.time.pass(5_000)
  expect(late.now).toMatchObject({ state: 'done', value: { value: 'paid', receipt: { state: 'succeeded' } } })
  expect(await paid(on)).toBe(true)
})

test('[R8, R10] a renewal that meets the commit before its answer came: done, not a lost lease', async () => {
  const on = bench()
  const store = committing(on, (transact) => async (work) => {
    await transact(work)
    return await new Promise(() => {})
  })
  on.tap.failBefore('get')
  const late = seen(on.open({ store }).transact(INTENT, pay, LEASE))
  await on.time.pass(4_000)
  expect(late.now).toMatchObject({ state: 'done', value: { value: 'paid', replayed: false } })
})

test('[R9, R10] a commit that was refused was rolled back, also when the key is given back late', async () => {
  const on = bench()
  const refused = new RangeError('deferred constraint')
  const store = committing(
    on,
    (transact) => async (work) =>
      await transact(async (tx, swap) => {
        await work(tx, swap)
        throw refused
      }),
  )
  on.tap.failAfter('swap')
  const ibid = on.open({ store })
  expect(await failure(within(on, ibid.transact(INTENT, pay, LEASE), 5_000))).toBe(refused)
  expect(await paid(on)).toBeUndefined()
  expect((await ibid.get(WHERE))?.state).toBe('released')
})

test('[R8, R10] somebody else has it since: a lost lease, after a commit that was not made', async () => {
  const on = bench()
  const store = committing(
    on,
    (transact) => async (work) =>
      await transact(async (tx, swap) => {
        await work(tx, swap)
        on.time.clock.advance(5_000)
        await on.open({ timers: on.time.worker().timers }).transact(INTENT, () => 'theirs')
        throw new TypeError('connection reset')
      }),
  )
  const error = await failure(within(on, on.open({ store }).transact(INTENT, pay, LEASE), 5_000))
  expect(error.code).toBe('LEASE_LOST')
  expect(await paid(on)).toBeUndefined()
})
