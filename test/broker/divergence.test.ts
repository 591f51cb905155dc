/** A step that is run again: what it did the first time is known, and what it does now is held against that. */
import { beforeEach, describe, expect, test } from 'vitest'
import { NotExecuted, Rejected } from '../../src/index.js'
import { PartialSuccess } from '../../src/guards/broker/index.js'
import { ARGS, type Bench, benchOf, CONTEXT, errorCode, refundTool } from './bench.js'

let effects: unknown[]
let bench: Bench

const MOST = 10_000

/** Refuses what is too much, for good; says so of what it could not do right now. */
function execute({ amount }: { amount: number }): object {
  if (amount > MOST) throw new Rejected('it is more than was paid', { code: 'TOO_MUCH' })
  if (amount === 0) throw new NotExecuted('not now', { retryAfterMs: 60_000 })
  if (amount < 0) throw new PartialSuccess('half', { done: ['half'], action: 'call finish_refund' })
  effects.push(amount)
  return { id: `re_${effects.length}`, amount }
}

beforeEach(() => {
  effects = []
  bench = benchOf([refundTool({ execute }), refundTool({ name: 'send_note', execute })])
})

const call = (
  amount: number,
  over: object = {},
  tool = 'issue_refund',
): ReturnType<Bench['broker']['call']> =>
  bench.broker.call(tool, { ...ARGS, amount }, { ...CONTEXT, ...over })

describe('[R38] a resumed step', () => {
  test('that calls the same tool with other arguments has diverged: not executed, and told what was done', async () => {
    const first = await call(100)
    const other = await call(200)
    expect(other).toMatchObject({
      ok: false,
      error: {
        code: 'DIVERGED_REPLAY',
        retriable: false,
        data: { first: { state: 'succeeded', result: { id: 're_1', amount: 100 } } },
      },
      _idempotency: { replay: false, first_completed_at: first._idempotency.first_completed_at },
    })
    expect(effects).toEqual([100])
    expect(await call(100)).toMatchObject({ ok: true, _idempotency: { replay: true } })
  })

  test('[R23] whose ignored arguments are worded anew has not', async () => {
    await call(100)
    const context = { ...CONTEXT }
    const again = await bench.broker.call(
      'issue_refund',
      { ...ARGS, amount: 100, reason: 'as the customer asked' },
      context,
    )
    expect(again).toMatchObject({ ok: true, _idempotency: { replay: true } })
    expect(effects).toEqual([100])
  })

  test('that picks another tool runs it under its own key', async () => {
    await call(100)
    expect(await call(200, {}, 'send_note')).toMatchObject({ ok: true, data: { amount: 200 } })
    expect(effects).toEqual([100, 200])
  })

  test('may repeat deliberately, by an ordinal', async () => {
    await call(100)
    expect(await call(100, { ordinal: 1 })).toMatchObject({ ok: true, data: { id: 're_2' } })
    expect(await call(100, { ordinal: 1 })).toMatchObject({
      ok: true,
      data: { id: 're_2' },
      _idempotency: { replay: true },
    })
    expect(await call(100, { ordinal: 0 })).toMatchObject({
      data: { id: 're_1' },
      _idempotency: { replay: true },
    })
    expect(effects).toEqual([100, 100])
  })

  test('whose first call was refused for good may correct it, and still lands once', async () => {
    expect(errorCode(await call(20_000))).toBe('TOO_MUCH')
    expect(errorCode(await call(30_000))).toBe('TOO_MUCH')
    expect(await call(9_000)).toMatchObject({ ok: true, data: { id: 're_1', amount: 9_000 } })
    expect(errorCode(await call(8_000))).toBe('DIVERGED_REPLAY')
    expect(await call(20_000)).toMatchObject({ error: { code: 'TOO_MUCH' }, _idempotency: { replay: true } })
    expect(await call(9_000)).toMatchObject({ data: { id: 're_1' }, _idempotency: { replay: true } })
    expect(effects).toEqual([9_000])
  })

  test('whose corrections come at once lands one of them', async () => {
    await call(20_000)
    const amounts = Array.from({ length: 20 }, (_, n) => n + 1)
    const answers = await Promise.all(amounts.map((amount) => call(amount)))
    expect(effects).toHaveLength(1)
    expect(answers.filter(({ ok }) => ok)).toHaveLength(1)
    expect(new Set(answers.map(errorCode))).toEqual(new Set([undefined, 'DIVERGED_REPLAY']))
  })

  test('whose first call was given back may still make it: other arguments have diverged', async () => {
    expect(errorCode(await call(0))).toBe('NOT_EXECUTED')
    expect(await call(100)).toMatchObject({
      error: { code: 'DIVERGED_REPLAY', data: { first: { state: 'released' } } },
    })
    expect(effects).toEqual([])
  })

  test('[R36] whose first call was done in part has landed', async () => {
    expect(errorCode(await call(-1))).toBe('PARTIAL_SUCCESS')
    expect(await call(100)).toMatchObject({
      error: {
        code: 'DIVERGED_REPLAY',
        data: { first: { state: 'failed', error: { code: 'PARTIAL_SUCCESS' } } },
      },
    })
    expect(effects).toEqual([])
  })

  test('of another tenant is another step', async () => {
    await call(100)
    expect(await call(200, { tenant: 'globex' })).toMatchObject({ ok: true })
    expect(effects).toEqual([100, 200])
  })
})

test('[R36] partial success: what was done, what would correct it, and no second try', async () => {
  let tries = 0
  const tool = refundTool({
    name: 'refund_all',
    downstream: { acceptsKey: true, window: '30d' },
    execute: () => {
      tries++
      throw new PartialSuccess('2 of 3 lines were refunded', {
        done: ['line_1', 'line_2'],
        missing: ['line_3'],
        action: 'call refund_line for line_3 only',
      })
    },
  })
  const { broker } = benchOf([tool])
  const first = await broker.call('refund_all', ARGS, CONTEXT)
  expect(first).toMatchObject({
    ok: false,
    error: {
      code: 'PARTIAL_SUCCESS',
      message: '2 of 3 lines were refunded',
      retriable: false,
      action: 'call refund_line for line_3 only',
      data: { done: ['line_1', 'line_2'], missing: ['line_3'] },
    },
  })
  const again = await broker.call('refund_all', ARGS, CONTEXT)
  expect(again).toEqual({ ...first, _idempotency: { ...first._idempotency, replay: true } })
  expect(tries).toBe(1)
})
