/** Group commit: whatever waits while a batch is on its way is the next batch, in order, without a timer. */
import { expect, test } from 'vitest'
import { createGroupCommit } from '../../src/engine/group-commit.js'
import type { Store } from '../../src/store.js'
import { bench, failure, INTENT, turn } from './bench.js'

const address = (n: number): { tenant: string; scope: string; key: string } => ({
  tenant: 'acme',
  scope: 's',
  key: `k${n}`,
})

/** A store that answers gets when the test says so. */
function slowStore(facts: { maxBatch: number; lanes: number }) {
  const trips: { keys: string[]; answer: () => Promise<void>; refuse: () => Promise<void> }[] = []
  const store = {
    ...facts,
    get: (addresses: readonly { key: string }[]) =>
      new Promise((resolve, reject) => {
        const keys = addresses.map(({ key }) => key)
        trips.push({
          keys,
          answer: async () => (resolve({ now: 1, receipts: keys.map((key) => ({ key })) }), turn()),
          refuse: async () => (reject(new TypeError('gone')), turn()),
        })
      }),
  } as unknown as Store
  return { commit: createGroupCommit(store), trips }
}

const keyOf = async (got: Promise<{ receipt: unknown }>): Promise<unknown> =>
  ((await got).receipt as { key: string }).key

test('a lone operation goes at once, and what comes while it is away goes together', async () => {
  const { commit, trips } = slowStore({ maxBatch: 100, lanes: 1 })
  const first = commit.get(address(0))
  await turn()
  const rest = [1, 2, 3, 4].map((n) => keyOf(commit.get(address(n))))
  await turn()
  expect(trips.map(({ keys }) => keys)).toEqual([['k0']])
  await trips[0]?.answer()
  expect(trips.map(({ keys }) => keys)).toEqual([['k0'], ['k1', 'k2', 'k3', 'k4']])
  await trips[1]?.answer()
  expect(await keyOf(first)).toBe('k0')
  expect(await Promise.all(rest)).toEqual(['k1', 'k2', 'k3', 'k4'])
})

test('what one turn of the loop asks for is one batch', async () => {
  const { commit, trips } = slowStore({ maxBatch: 100, lanes: 1 })
  const all = Promise.all([5, 6, 7].map(async (n) => keyOf(commit.get(address(n)))))
  await turn()
  expect(trips.map(({ keys }) => keys)).toEqual([['k5', 'k6', 'k7']])
  await trips[0]?.answer()
  expect(await all).toEqual(['k5', 'k6', 'k7'])
})

test('no batch is larger than the store wants, and no more batches are out than it has lanes', async () => {
  const { commit, trips } = slowStore({ maxBatch: 3, lanes: 2 })
  const all = Promise.all(Array.from({ length: 10 }, (_, n) => keyOf(commit.get(address(n)))))
  await turn()
  expect(trips.map(({ keys }) => keys.length)).toEqual([3, 3])
  // The second answers first: everybody still gets what they asked for.
  await trips[1]?.answer()
  expect(trips.map(({ keys }) => keys.length)).toEqual([3, 3, 3])
  // The last lane is for full batches: what is left would only cost a trip of its own.
  await trips[0]?.answer()
  expect(trips.map(({ keys }) => keys.length)).toEqual([3, 3, 3])
  await trips[2]?.answer()
  await turn()
  expect(trips.map(({ keys }) => keys.length)).toEqual([3, 3, 3, 1])
  await trips[3]?.answer()
  expect(await all).toEqual(Array.from({ length: 10 }, (_, n) => `k${n}`))
})

test('a batch that fails rejects those in it, and nobody else', async () => {
  const { commit, trips } = slowStore({ maxBatch: 2, lanes: 1 })
  const asked = [0, 1, 2, 3].map((n) => keyOf(commit.get(address(n))))
  const ends = Promise.allSettled(asked)
  await turn()
  await trips[0]?.refuse()
  await trips[1]?.answer()
  expect((await ends).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled', 'fulfilled'])
  expect((await failure(asked[0] as Promise<unknown>)).message).toBe('gone')
})

test('a store that throws instead of rejecting fails its batch, and the next one goes', async () => {
  let calls = 0
  const store = {
    maxBatch: 1,
    lanes: 1,
    get() {
      if (calls++ === 0) throw new TypeError('thrown')
      return Promise.resolve({ now: 1, receipts: [undefined] })
    },
  } as unknown as Store
  const commit = createGroupCommit(store)
  const first = failure(commit.get(address(0)))
  const second = commit.get(address(1))
  expect((await first).message).toBe('thrown')
  expect(await second).toEqual({ now: 1, receipt: undefined })
})

test('each verb has its own queue: a renewal does not stand behind claims', async () => {
  const on = bench()
  const door = on.tap.hold('claim')
  const ibid = on.open()
  const claims = ['a', 'b'].map((key) => ibid.once({ tenant: 't', scope: 's', key }, () => key))
  await turn()
  expect(door.waiting).toBe(1)
  const looked = await createGroupCommit(on.store).get({ tenant: 't', scope: 's', key: 'a' })
  expect(looked.receipt).toBeUndefined()
  door.let()
  expect((await Promise.all(claims)).map(({ value }) => value)).toEqual(['a', 'b'])
})

test('no timer is set to gather a batch, and 256 callers need few trips', async () => {
  const on = bench()
  const ibid = on.open()
  await ibid.once({ tenant: 't', scope: 's', key: 'warm' }, () => 0)
  const before = on.tap.calls.length
  const armed = on.time.armed
  const callers = Array.from({ length: 256 }, (_, n) =>
    ibid.once({ tenant: 't', scope: 's', key: `k${n}` }, () => n),
  )
  const values = (await Promise.all(callers)).map(({ value }) => value)
  expect(values).toEqual(Array.from({ length: 256 }, (_, n) => n))
  expect(on.tap.calls.slice(before).map(({ verb, size }) => `${verb} ${size}`)).toEqual([
    'claim 256',
    'swap 256',
  ])
  expect(on.time.armed).toBe(armed)
})

test('a full batch is sent while the rest of the turn goes on: store and callers work side by side', async () => {
  const { commit, trips } = slowStore({ maxBatch: 3, lanes: 2 })
  const asked = [0, 1, 2, 3].map((n) => keyOf(commit.get(address(n))))
  expect(trips.map(({ keys }) => keys)).toEqual([['k0', 'k1', 'k2']])
  await trips[0]?.answer()
  await turn()
  expect(trips.map(({ keys }) => keys)).toEqual([['k0', 'k1', 'k2'], ['k3']])
  await trips[1]?.answer()
  expect(await Promise.all(asked)).toEqual(['k0', 'k1', 'k2', 'k3'])
})

test('what is sent at once waits for nobody, and takes along what was waiting', async () => {
  const sent: string[][] = []
  const store = {
    maxBatch: 100,
    lanes: 1,
    swap: async (changes: readonly { next: { key: string } }[]) => {
      sent.push(changes.map(({ next }) => next.key))
      return changes.map(() => ({ done: false, now: 1 }))
    },
  } as unknown as Store
  const { swap } = createGroupCommit(store)
  const change = (key: string) => ({ next: { key } }) as unknown as Parameters<typeof swap>[0]
  const asked = [swap(change('a')), swap(change('b'), true)]
  expect(sent).toEqual([['a', 'b']])
  await Promise.all(asked)
})

test('of a crowd, whatever the connections ask for in one turn of the loop is one batch', async () => {
  const { commit, trips } = slowStore({ maxBatch: 100, lanes: 1 })
  const asked = [0, 1].map((n) => commit.get(address(n)))
  await turn()
  await trips[0]?.answer()
  await Promise.all(asked)
  // Callbacks of their own, in one turn, as connections have them.
  const later = [2, 3, 4].map(
    (n) => new Promise((resolve) => setImmediate(() => resolve(keyOf(commit.get(address(n)))))),
  )
  await turn()
  await turn()
  expect(trips.map(({ keys }) => keys)).toEqual([
    ['k0', 'k1'],
    ['k2', 'k3', 'k4'],
  ])
  await trips[1]?.answer()
  expect(await Promise.all(later)).toEqual(['k2', 'k3', 'k4'])
})

/** A store that gives so many answers to every batch. */
const answering = (n: number): Store =>
  ({ maxBatch: 10, lanes: 1, claim: async () => Array.from({ length: n }, () => ({ won: true })) }) as never

test('a batch that is answered with too few answers, or too many, is not answered at all', async () => {
  for (const answers of [0, 1, 3]) {
    const commit = createGroupCommit(answering(answers))
    const asked = [commit.claim({} as never), commit.claim({} as never)]
    for (const one of asked) {
      expect(await failure(one)).toMatchObject({
        code: 'STORE_UNAVAILABLE',
        message: `it gave ${answers} answers to 2 questions`,
      })
    }
  }
})

test('[R61] a settlement and a claim that are not answered like that are asked for again', async () => {
  for (const verb of ['claim', 'swap'] as const) {
    const on = bench()
    let asked = 0
    const inner = on.store[verb] as (batch: never) => Promise<readonly unknown[]>
    const store = {
      ...on.store,
      [verb]: async (batch: never) => {
        const answers = await inner(batch)
        return asked++ === 0 ? [] : answers
      },
    } as never
    const done = on.open({ store }).once(INTENT, () => 'done')
    await on.time.pass(1_000)
    expect((await done).value).toBe('done')
  }
})
