/** Duplicates in another process wait for the attempt that runs elsewhere, as long as they said and no longer. */
import { describe, expect, test } from 'vitest'
import { bench, INTENT, leaveBehind, manual, seen, turn } from './bench.js'

describe.each([
  ['a store that tells of changes', {}],
  ['a store that does not', { watch: undefined as never }],
])('two engines on %s', (_name, facts) => {
  test('[R6] a duplicate elsewhere waits, and has the value soon after the attempt settled', async () => {
    const on = bench(facts)
    const work = manual()
    const first = on.open().once(INTENT, work.effect)
    await turn()
    const second = seen(on.open().once(INTENT, work.effect))
    await on.time.pass(3_000)
    expect(second.now.state).toBe('waiting')
    await work.succeed({ id: 're_1' })
    await on.time.pass(300)
    expect(second.now).toMatchObject({ state: 'done', value: { value: { id: 're_1' }, replayed: true } })
    expect((await first).replayed).toBe(false)
    expect(work.attempts).toHaveLength(1)
  })

  test('[R6] one look is not waiting: who may wait ten seconds waits for an attempt of nine', async () => {
    const on = bench(facts)
    const work = manual()
    void on.open().once(INTENT, work.effect)
    await turn()
    const second = seen(on.open().once(INTENT, work.effect, { wait: '10s' }))
    await on.time.pass(9_000)
    expect(second.now.state).toBe('waiting')
    await work.succeed('nine')
    await on.time.pass(300)
    expect(second.now).toMatchObject({ state: 'done', value: { value: 'nine' } })
  })

  test('[R6] at the deadline the answer says that it is in flight and when to come back', async () => {
    const on = bench(facts)
    const work = manual()
    void on.open().once(INTENT, work.effect, { lease: '60s' })
    await turn()
    const second = seen(on.open().once(INTENT, work.effect, { wait: '5s' }))
    await on.time.pass(4_999)
    expect(second.now.state).toBe('waiting')
    await on.time.pass(1)
    expect(second.now).toMatchObject({ state: 'failed', error: { code: 'RETRY_IN_FLIGHT', retriable: true } })
    const { error } = second.now as { error: { retryAfterMs: number; message: string } }
    expect(error.retryAfterMs).toBeGreaterThan(0)
    expect(error.message).toMatch(/this call executed nothing/)
  })

  test('[R7] a waiter wakes when the lease lapses, not at its deadline, and recovers by its policy', async () => {
    const on = bench(facts)
    await leaveBehind(on, { lease: '2s', recovery: 'retry' })
    const second = seen(
      on.open().once(INTENT, (attempt) => attempt.number, { wait: '1h', recovery: 'retry' }),
    )
    await on.time.pass(1_999)
    expect(second.now.state).toBe('waiting')
    await on.time.pass(1)
    expect(second.now).toMatchObject({ state: 'done', value: { value: 2, receipt: { attempt: 2 } } })
  })
})

test('[R6] waiting costs few looks: slower the longer nothing happens, one look for all waiters of a key', async () => {
  const on = bench({ watch: undefined as never })
  void on.open().once(INTENT, manual().effect, { lease: '10m' })
  await turn()
  const ibid = on.open()
  const waiters = Array.from({ length: 20 }, () => seen(ibid.once(INTENT, () => 'no', { wait: '1m' })))
  await on.time.pass(60_000)
  expect(waiters.every(({ now }) => now.state === 'failed')).toBe(true)
  expect(on.tap.count('get')).toBeGreaterThan(60)
  expect(on.tap.count('get')).toBeLessThan(300)
})

test('[R6, R12] a look that fails is only a look: the waiter waits on and gets the value', async () => {
  const on = bench({ watch: undefined as never })
  const work = manual()
  void on.open().once(INTENT, work.effect)
  await turn()
  const second = seen(on.open().once(INTENT, work.effect))
  await turn()
  on.tap.failBefore('get', 10)
  await on.time.pass(2_000)
  expect(second.now.state).toBe('waiting')
  await work.succeed('there')
  await on.time.pass(300)
  expect(second.now).toMatchObject({ state: 'done', value: { value: 'there' } })
})

test('[R6] a change told of while a look is on its way is not missed', async () => {
  const on = bench()
  const work = manual()
  void on.open().once(INTENT, work.effect)
  await turn()
  const answers: (() => void)[] = []
  const { get } = on.store
  const slow = {
    ...on.store,
    async get(addresses: Parameters<typeof get>[0]) {
      const looked = await get(addresses)
      await new Promise<void>((resolve) => void answers.push(resolve))
      return looked
    },
  }
  const second = seen(on.open({ store: slow }).once(INTENT, work.effect, { wait: '1h' }))
  await on.time.pass(4)
  expect(answers).toHaveLength(1)
  // The look saw it running; before it could say so, the attempt settled.
  await work.succeed('seen')
  answers[0]?.()
  await turn()
  answers[1]?.()
  await turn()
  expect(second.now).toMatchObject({ state: 'done', value: { value: 'seen' } })
})

test('[R4] a duplicate with another payload does not wait: it is a conflict at once', async () => {
  const on = bench()
  void on.open().once(INTENT, manual().effect)
  await turn()
  const other = seen(on.open().once({ ...INTENT, payload: 'other' }, () => 'no'))
  await turn()
  expect(other.now).toMatchObject({ state: 'failed', error: { code: 'KEY_REUSED' } })
})
