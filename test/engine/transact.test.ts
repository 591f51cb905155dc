/** Effect and receipt in one transaction: both or neither, and never held. */
import { EventEmitter, once } from 'node:events'
import { expect, test } from 'vitest'
import { NotExecuted, OutcomeUnknown, Rejected } from '../../src/index.js'
import type { MemoryTx } from '../../src/stores/memory/index.js'
import { bench, type Bench, failure, INTENT, seen, turn, WHERE } from './bench.js'

const pay = (tx: MemoryTx): number => {
  const paid = ((tx.get('paid') as number | undefined) ?? 0) + 1
  tx.set('paid', paid)
  return paid
}

function kept(on: Bench, name: string): Promise<unknown> {
  return (on.store.transact as NonNullable<typeof on.store.transact>)((tx) => Promise.resolve(tx.get(name)))
}

function paid(on: Bench): Promise<unknown> {
  return kept(on, 'paid')
}

test('[R10] the writes and the receipt commit together, once', async () => {
  const on = bench()
  const ibid = on.open()
  expect(await ibid.transact(INTENT, pay)).toMatchObject({ value: 1, replayed: false })
  expect(await ibid.transact(INTENT, pay)).toMatchObject({ value: 1, replayed: true })
  expect(await on.open().transact(INTENT, pay)).toMatchObject({ value: 1, replayed: true })
  expect(await paid(on)).toBe(1)
})

test('[R10] an error rolls everything back, and the key may run again', async () => {
  const on = bench()
  const ibid = on.open()
  const boom = new TypeError('constraint')
  const error = await failure(
    ibid.transact(INTENT, (tx) => {
      pay(tx)
      throw boom
    }),
  )
  expect(error).toBe(boom)
  expect(await paid(on)).toBeUndefined()
  expect((await ibid.get(WHERE))?.state).toBe('released')
  expect((await ibid.transact(INTENT, pay)).value).toBe(1)
})

test.each([
  ['Rejected', new Rejected('no'), 'failed'],
  ['NotExecuted', new NotExecuted('no'), 'released'],
  ['OutcomeUnknown', new OutcomeUnknown('no'), 'unknown'],
])('[R9, R10] %s rolls back as well, and is written down', async (_name, verdict, state) => {
  const on = bench()
  const ibid = on.open()
  const error = await failure(
    ibid.transact(INTENT, (tx) => {
      pay(tx)
      throw verdict
    }),
  )
  expect(error).toBe(verdict)
  expect(await paid(on)).toBeUndefined()
  expect((await ibid.get(WHERE))?.state).toBe(state)
})

test('[R7, R10] a transaction that was left behind did nothing: the next one runs, and nothing is held', async () => {
  const on = bench()
  const victim = on.worker()
  const end = new EventEmitter()
  const late = seen(
    victim.ibid.transact(
      INTENT,
      async (tx) => {
        // Nothing that another transaction touches: only the receipt can tell that this one is too late.
        tx.set('ghost', true)
        await once(end, 'now')
        return 'zombie'
      },
      { lease: '1s' },
    ),
  )
  await turn()
  victim.stop()
  await on.time.pass(1_000)
  expect((await on.open().transact(INTENT, pay)).value).toBe(1)
  end.emit('now')
  await turn()
  expect(late.now).toMatchObject({ state: 'failed', error: { code: 'LEASE_LOST' } })
  expect(await kept(on, 'ghost')).toBeUndefined()
  expect(await paid(on)).toBe(1)
  expect((await on.open().get(WHERE))?.value).toBe(1)
})

test('[R10, R61] a commit whose answer was lost is found out: once, and the caller has the value', async () => {
  const on = bench()
  on.tap.failAfter('transact')
  expect(await on.open().transact(INTENT, pay)).toMatchObject({ value: 1, replayed: false })
  expect(await paid(on)).toBe(1)
})

test('[R10, R12] a store that cannot begin: nothing is written, and the key is given back', async () => {
  const on = bench()
  on.tap.failBefore('transact')
  const ibid = on.open()
  const error = await failure(ibid.transact(INTENT, pay))
  expect(error).toMatchObject({ code: 'STORE_UNAVAILABLE', retriable: true })
  expect(error.message).toContain('connection refused; nothing was executed')
  expect((await ibid.get(WHERE))?.state).toBe('released')
  expect((await ibid.transact(INTENT, pay)).value).toBe(1)
})

test('[R10] a store without transactions says so before anything is claimed', async () => {
  const on = bench()
  const error = await failure(
    on.open({ store: { ...on.store, transact: undefined as never } }).transact(INTENT, pay),
  )
  expect(error).toMatchObject({ code: 'INVALID_INTENT' })
  expect(on.tap.count('claim')).toBe(0)
})

test('[R4, R10] another payload is a conflict', async () => {
  const on = bench()
  const ibid = on.open()
  await ibid.transact(INTENT, pay)
  expect((await failure(ibid.transact({ ...INTENT, payload: 1 }, pay))).code).toBe('KEY_REUSED')
})

test('[R10, R60] many callers of one key: one commit', async () => {
  const on = bench()
  const engines = Array.from({ length: 8 }, () => on.open())
  const calls = engines.flatMap((ibid) => Array.from({ length: 20 }, () => ibid.transact(INTENT, pay)))
  await on.time.pass(2_000)
  const values = (await Promise.all(calls)).map(({ value }) => value)
  expect(new Set(values)).toEqual(new Set([1]))
  expect(await paid(on)).toBe(1)
})
