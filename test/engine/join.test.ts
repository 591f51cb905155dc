/** Duplicates in one process join the attempt that runs there: one claim, one effect, the same value for all. */
import { expect, test } from 'vitest'
import { NotExecuted } from '../../src/index.js'
import { bench, failure, INTENT, manual, seen, turn } from './bench.js'

test('[R6] duplicates of a running action join it: one claim, one effect, the same value', async () => {
  const on = bench()
  const ibid = on.open()
  const work = manual<{ id: string }>()
  const first = ibid.once(INTENT, work.effect)
  await turn()
  const duplicates = Array.from({ length: 50 }, () => ibid.once(INTENT, work.effect))
  await turn()
  expect(on.tap.count('claim')).toBe(1)
  await work.succeed({ id: 're_1' })
  const all = await Promise.all([first, ...duplicates])
  expect(work.attempts).toHaveLength(1)
  expect(on.tap.count('claim')).toBe(1)
  expect(all.map(({ value }) => value)).toEqual(all.map(() => ({ id: 're_1' })))
  expect(all.map(({ replayed }) => replayed)).toEqual([false, ...duplicates.map(() => true)])
})

test('[R2, R60] callers that come in the same moment: one effect, the same value', async () => {
  const on = bench()
  const ibid = on.open()
  let effects = 0
  const callers = Array.from({ length: 400 }, () =>
    ibid.once(INTENT, async () => {
      effects++
      await turn()
      return effects
    }),
  )
  await on.time.pass(100)
  const values = (await Promise.all(callers)).map(({ value }) => value)
  expect(effects).toBe(1)
  expect(new Set(values)).toEqual(new Set([1]))
})

test('[R4] a conflict is found on the way of joining too, while the first is still running', async () => {
  const on = bench()
  const ibid = on.open()
  const work = manual()
  const first = ibid.once(INTENT, work.effect)
  await turn()
  const other = await failure(ibid.once({ ...INTENT, payload: { payment: 'pay_2' } }, work.effect))
  expect(other.code).toBe('KEY_REUSED')
  await work.succeed('done')
  expect((await first).value).toBe('done')
  expect(work.attempts).toHaveLength(1)
})

test('[R6] joining is bounded by the wait of the one who joins', async () => {
  const on = bench()
  const ibid = on.open()
  const work = manual()
  void ibid.once(INTENT, work.effect)
  await turn()
  const joined = seen(ibid.once(INTENT, work.effect, { wait: '2s' }))
  await on.time.pass(1_999)
  expect(joined.now.state).toBe('waiting')
  await on.time.pass(1)
  expect(joined.now).toMatchObject({ state: 'failed', error: { code: 'RETRY_IN_FLIGHT', retriable: true } })
  await work.succeed('late')
  expect((await ibid.once(INTENT, work.effect)).value).toBe('late')
})

test('[R6] with a wait of nothing the answer comes at once, and says when to come back', async () => {
  const on = bench()
  const ibid = on.open()
  void ibid.once(INTENT, manual().effect)
  await turn()
  const error = await failure(ibid.once(INTENT, () => 'no', { wait: 0 }))
  expect(error.code).toBe('RETRY_IN_FLIGHT')
  expect(error.retryAfterMs).toBeGreaterThan(0)
  expect(error.retryAfterMs).toBeLessThanOrEqual(1_000)
})

test('[R9] who joined an attempt that did nothing runs the effect, one of them', async () => {
  const on = bench()
  const ibid = on.open()
  const work = manual()
  const first = failure(ibid.once(INTENT, work.effect))
  await turn()
  const second = ibid.once(INTENT, work.effect)
  const third = ibid.once(INTENT, work.effect)
  await turn()
  await work.fail(new NotExecuted('refused at the door'))
  expect((await first).code).toBe('NOT_EXECUTED')
  await on.time.pass(10)
  expect(work.attempts).toHaveLength(2)
  await work.succeed('second')
  await on.time.pass(500)
  const both = await Promise.all([second, third])
  expect(both.map(({ value }) => value)).toEqual(['second', 'second'])
})

test('[R5] who joined gets a value of its own: changing it changes nobody else', async () => {
  const on = bench()
  const ibid = on.open()
  const work = manual<{ list: number[] }>()
  const first = ibid.once(INTENT, work.effect)
  await turn()
  const second = ibid.once(INTENT, work.effect)
  const third = ibid.once(INTENT, work.effect)
  await work.succeed({ list: [1] })
  ;(await first).value.list.push(2)
  ;(await second).value.list.push(3)
  expect((await third).value).toEqual({ list: [1] })
})
