/**
 * A time-out after the downstream has committed: with a status check that finds it, lags, finds nothing or cannot tell;
 * with a downstream that takes the key; with neither. The promised answer each time, and never a second effect.
 */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createIbid, NotExecuted, OutcomeUnknown } from '../../src/index.js'
import { createBroker, type Observation, oneHttpCall, type ToolCall } from '../../src/guards/broker/index.js'
import { memoryStore } from '../../src/stores/memory/index.js'
import { ARGS, type Bench, benchOf, CONTEXT, errorCode, refundTool } from './bench.js'
import { type Payments, startPayments } from './payments.js'

let payments: Payments

beforeEach(async () => {
  payments = await startPayments()
})

afterEach(() => payments.close())

/** Time enough for an answer on this machine, and soon over for one that never comes. */
const TIMEOUT = '2s'

function bench(over: object): Bench & { call(): Promise<Observation> } {
  const tool = refundTool({ timeout: TIMEOUT, execute: payments.refund, ...over })
  const made = benchOf([tool])
  return { ...made, call: () => made.broker.call('issue_refund', ARGS, CONTEXT) }
}

const checked = (): object => ({ check: payments.check, downstream: { settles: '10s' } })

describe('with a status check', () => {
  test('[R34] found: the answer is the refund that was made, and it is made once', async () => {
    payments.plan = ['commit, then silence']
    const { call } = bench(checked())
    expect(await call()).toMatchObject({ ok: true, data: { id: 're_1', amount: 4_200 } })
    expect(await call()).toMatchObject({ ok: true, data: { id: 're_1' }, _idempotency: { replay: true } })
    expect(payments.effects.all()).toHaveLength(1)
    expect(payments.lookups).toEqual(payments.keys)
  })

  test('[R34] a connection cut after the commit is as ambiguous as a time-out', async () => {
    payments.plan = ['commit, then cut']
    const { call } = bench(checked())
    expect(await call()).toMatchObject({ ok: true, data: { id: 're_1' } })
    expect(payments.effects.all()).toHaveLength(1)
  })

  test('[R34] a check that lags behind is asked again until the downstream has had its time', async () => {
    payments.plan = ['commit, then silence']
    payments.status = 4
    const { call, pace } = bench(checked())
    expect(await call()).toMatchObject({ ok: true, data: { id: 're_1' } })
    expect(payments.effects.all()).toHaveLength(1)
    expect(payments.lookups).toHaveLength(5)
    expect(pace.pauses).toEqual([100, 200, 400, 800])
  })

  test('[R34] not found, and believed: the same call is made again with the same key, once', async () => {
    payments.plan = ['silence']
    const { call } = bench(checked())
    expect(await call()).toMatchObject({ ok: true, data: { id: 're_1' }, _idempotency: { replay: false } })
    expect(payments.effects.all()).toHaveLength(1)
    expect(new Set(payments.keys).size).toBe(1)
    expect(payments.keys).toHaveLength(2)
  })

  test('[R34][R9] not found, and no try left: not executed, and the same call may be made again', async () => {
    payments.plan = ['silence']
    const { call, broker } = bench({ ...checked(), retry: { attempts: 1 } })
    const first = await call()
    expect(first).toMatchObject({ ok: false, error: { code: 'NOT_EXECUTED', retriable: true } })
    expect(broker.toModel('issue_refund', first)).toMatchObject({ error: { retriable: true } })
    expect(await call()).toMatchObject({ ok: true, data: { id: 're_1' } })
    expect(payments.effects.all()).toHaveLength(1)
  })

  test('[R34] unclear: outcome unknown, not to be repeated; when the check can tell, that is the answer', async () => {
    payments.plan = ['commit, then silence']
    payments.status = 'broken'
    const { call, broker } = bench(checked())
    const first = await call()
    expect(first).toMatchObject({ ok: false, error: { code: 'OUTCOME_UNKNOWN', retriable: false } })
    expect(broker.toModel('issue_refund', first)).toMatchObject({
      error: { action: expect.stringMatching(/^do not make this call again/) },
    })
    expect(errorCode(await call())).toBe('OUTCOME_UNKNOWN')
    payments.status = 'true'
    expect(await call()).toMatchObject({ ok: true, data: { id: 're_1' }, _idempotency: { replay: true } })
    expect(payments.effects.all()).toHaveLength(1)
    expect(payments.keys).toHaveLength(1)
  })
})

describe('with a downstream that takes the key', () => {
  const keyed = { downstream: { acceptsKey: true, window: '30d' } } as const

  test('[R33][R34] it is tried again with the same key, and the downstream does it once', async () => {
    payments.honoursKeys = true
    payments.plan = ['commit, then silence', 'commit, then cut']
    const { call } = bench(keyed)
    expect(await call()).toMatchObject({ ok: true, data: { id: 're_1' }, _idempotency: { replay: false } })
    expect(payments.keys).toHaveLength(3)
    expect(new Set(payments.keys).size).toBe(1)
    expect(payments.effects.all()).toHaveLength(1)
  })

  test('[R34] when the tries are used up the host may repeat the same call; the model may not', async () => {
    payments.honoursKeys = true
    payments.plan = ['commit, then silence']
    const { call, broker } = bench({ ...keyed, retry: { attempts: 1 } })
    const first = await call()
    expect(first).toMatchObject({ ok: false, error: { code: 'UPSTREAM_TIMEOUT', retriable: true } })
    expect(broker.toModel('issue_refund', first)).toMatchObject({ error: { retriable: false } })
    expect(await call()).toMatchObject({ ok: true, data: { id: 're_1' } })
    expect(payments.effects.all()).toHaveLength(1)
  })

  test('[R34] a model that is called off while its answer is open is not told that nothing happened', async () => {
    payments.honoursKeys = true
    payments.plan = ['commit, then silence']
    const caller = new AbortController()
    const tool = refundTool({ ...keyed, timeout: TIMEOUT, execute: payments.refund, retry: { attempts: 1 } })
    const pause = async (): Promise<void> => caller.abort()
    const { broker } = benchOf([tool], { pace: { pause } })
    const context = { ...CONTEXT, signal: caller.signal }
    const { observation, shown } = await broker.answer('issue_refund', ARGS, context)
    expect(errorCode(observation)).toBe('UPSTREAM_TIMEOUT')
    expect(shown).toMatchObject({ error: { code: 'UPSTREAM_TIMEOUT', retriable: false } })
    expect(payments.effects.all()).toHaveLength(1)
  })

  test.each([
    ['the next try', 2],
    ['the next call', 1],
  ])('[R9][R34] "not executed" of %s does not speak for the one that timed out', async (_, attempts) => {
    payments.honoursKeys = true
    payments.plan = ['commit, then silence', { status: 429 }]
    const { call, broker } = bench({ ...keyed, retry: { attempts }, classify: oneHttpCall })
    const first = await call()
    const open = attempts === 2 ? first : await call()
    expect(open).toMatchObject({ ok: false, error: { code: 'UPSTREAM_ERROR', retriable: true } })
    expect(broker.toModel('issue_refund', open)).toMatchObject({ error: { retriable: false } })
    expect(await call()).toMatchObject({ ok: true, data: { id: 're_1' } })
    expect(payments.effects.all()).toHaveLength(1)
  })

  test('[R9][R34] a tool that says that it does not know is believed, and the check is given its time', async () => {
    payments.status = 2
    const execute = async (args: { amount: number }, toolCall: ToolCall): Promise<never> => {
      await payments.refund(args, toolCall)
      throw new OutcomeUnknown('the answer was garbled')
    }
    const { call } = bench({
      execute,
      check: payments.check,
      downstream: { ...keyed.downstream, settles: '10s' },
    })
    expect(await call()).toMatchObject({ ok: true, data: { id: 're_1' } })
    expect(payments.lookups).toHaveLength(3)
    expect(payments.effects.all()).toHaveLength(1)
  })

  test('[R20][R34] answer() repeats it under the same key, so that the model sees a result', async () => {
    payments.honoursKeys = true
    payments.plan = ['commit, then silence', 'commit, then silence']
    const { broker } = bench({ ...keyed, retry: { attempts: 1 } })
    const { shown } = await broker.answer('issue_refund', ARGS, CONTEXT)
    expect(shown).toEqual({ ok: true, data: { id: 're_1', amount: 4_200 } })
    expect(new Set(payments.keys).size).toBe(1)
    expect(payments.effects.all()).toHaveLength(1)
  })
})

test('[R34] answer() of a caller who has gone away is the open one, and not that nothing was done', async () => {
  payments.honoursKeys = true
  payments.plan = ['commit, then cut']
  const stop = new AbortController()
  const execute = async (args: { amount: number }, call: ToolCall): Promise<object> => {
    stop.abort()
    return await payments.refund(args, call)
  }
  const { broker } = bench({
    downstream: { acceptsKey: true, window: '30d' },
    retry: { attempts: 1 },
    execute,
  })
  const { shown } = await broker.answer('issue_refund', ARGS, { ...CONTEXT, signal: stop.signal })
  expect(shown).toMatchObject({ ok: false, error: { code: 'UPSTREAM_ERROR', retriable: false } })
  expect(payments.effects.all()).toHaveLength(1)
})

describe('with neither', () => {
  test('[R34] a person, for this call and for every duplicate, until one has decided', async () => {
    payments.plan = ['commit, then silence']
    const { call, ibid } = bench({})
    const first = await call()
    expect(first).toMatchObject({ ok: false, error: { code: 'NEEDS_HUMAN', retriable: false } })
    expect(errorCode(await call())).toBe('NEEDS_HUMAN')
    const where = { tenant: 'acme', scope: 'tool:issue_refund', key: payments.keys[0] as string }
    await ibid.resolve(
      where,
      { as: 'succeeded', value: { id: 're_1' } },
      { by: 'ana', why: 'seen in the ledger' },
    )
    expect(await call()).toMatchObject({ ok: true, data: { id: 're_1' }, _idempotency: { replay: true } })
    expect(payments.effects.all()).toHaveLength(1)
    expect(payments.keys).toHaveLength(1)
  })

  test('[R30] requiresHumanOnRetry: not even what was not executed is repeated before a person allows it', async () => {
    let tries = 0
    const execute = (): object => {
      tries++
      if (tries === 1) throw new NotExecuted('the bank is closed')
      return { id: 're_1' }
    }
    const { call, ibid } = bench({ requiresHumanOnRetry: true, execute })
    const first = await call()
    expect(errorCode(first)).toBe('NEEDS_HUMAN')
    expect(errorCode(await call())).toBe('NEEDS_HUMAN')
    const where = { tenant: 'acme', scope: 'tool:issue_refund', key: first._idempotency.key as string }
    await ibid.resolve(where, { as: 'released' }, { by: 'ana', why: 'the bank has opened' })
    expect(await call()).toMatchObject({ ok: true, data: { id: 're_1' } })
    expect(tries).toBe(2)
  })
})

test('[R34] [R35] a system that shuts down does not say that nothing was carried out', async () => {
  const store = memoryStore()
  let end: ((value: object) => void) | undefined
  const ended = new Promise<object>((resolve) => (end = resolve))
  const working = createIbid({ store, housekeeping: false })
  // What they share outlives the one that is closed, as a server does.
  const closing = createIbid({ store: { ...store, close: async () => {} }, housekeeping: false })
  const tools = [refundTool({ execute: () => ended })]
  const first = createBroker({ ibid: working, tools }).call('issue_refund', ARGS, CONTEXT)
  await expect.poll(async () => (await working.list()).receipts.length).toBe(1)
  const broker = createBroker({ ibid: closing, tools })
  const duplicate = broker.call('issue_refund', ARGS, CONTEXT)
  await new Promise((resolve) => setTimeout(resolve, 50))
  void closing.close()
  const shown = broker.toModel('issue_refund', await duplicate)
  end?.({ id: 're_1' })
  expect((await first).ok).toBe(true)
  expect(shown).toMatchObject({ ok: false, error: { code: 'CLOSED', retriable: false } })
  expect(JSON.stringify(shown)).not.toMatch(/nothing was carried out|call again later/)
  expect(JSON.stringify(shown)).toMatch(/do not make this call again/)
  await working.close()
}, 10_000)
