/** Retries inside one claim: what is retried, with which key, after which pause, and where it ends. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { NotExecuted, Rejected } from '../../src/index.js'
import { oneHttpCall, type ToolCall } from '../../src/guards/broker/index.js'
import { ARGS, type Bench, benchOf, CONTEXT, errorCode, refundTool } from './bench.js'
import { type Payments, startPayments } from './payments.js'

let payments: Payments

beforeEach(async () => {
  payments = await startPayments()
})

afterEach(() => payments.close())

const bench = (over: object): Bench => benchOf([refundTool({ execute: payments.refund, ...over })])

const KEYED = { downstream: { acceptsKey: true, window: '30d' } }
const call = ({ broker }: Bench): ReturnType<Bench['broker']['call']> =>
  broker.call('issue_refund', ARGS, CONTEXT)

describe('[R33] transient errors of a downstream that takes the key', () => {
  test('are tried again under the same claim and key, with growing, jittered pauses', async () => {
    payments.plan = [{ status: 503 }, { status: 500 }]
    const made = bench(KEYED)
    const observation = await call(made)
    expect(observation).toMatchObject({ ok: true, _idempotency: { replay: false } })
    expect(new Set(payments.keys)).toEqual(new Set([observation._idempotency.key]))
    expect(payments.keys).toHaveLength(3)
    // Between half of the pause and all of it; chance is 0.5 here.
    expect(made.pace.pauses).toEqual([187.5, 375])
    const { receipts } = await made.ibid.list()
    expect(receipts).toMatchObject([{ state: 'succeeded', attempt: 1 }])
  })

  test('wait as long as Retry-After says', async () => {
    payments.plan = [{ status: 429, retryAfter: '7' }]
    const made = bench(KEYED)
    expect((await call(made)).ok).toBe(true)
    expect(made.pace.pauses).toEqual([7_000])
  })

  test('with a Retry-After that is a date wait until then', async () => {
    const at = new Date(Date.now() + 5_000)
    payments.plan = [{ status: 503, retryAfter: at.toUTCString() }]
    const made = bench(KEYED)
    expect((await call(made)).ok).toBe(true)
    expect(made.pace.pauses).toHaveLength(1)
    expect(made.pace.pauses[0]).toBeLessThanOrEqual(5_000)
  })

  test('are not waited for past maxBackoff: the host is told when to come back', async () => {
    payments.plan = [{ status: 429, retryAfter: '3600' }]
    const made = bench(KEYED)
    expect(await call(made)).toMatchObject({
      error: { code: 'UPSTREAM_ERROR', retriable: true, retry_after_ms: 3_600_000 },
    })
    expect(made.pace.pauses).toEqual([])
    expect(payments.keys).toHaveLength(1)
  })

  test('end with the tries, and the next call goes on with the same key', async () => {
    payments.plan = [{ status: 503 }, { status: 503 }, { status: 503 }]
    const made = bench(KEYED)
    expect(await call(made)).toMatchObject({ error: { code: 'UPSTREAM_ERROR', retriable: true } })
    expect(payments.keys).toHaveLength(3)
    expect(await call(made)).toMatchObject({ ok: true })
    expect(new Set(payments.keys).size).toBe(1)
    expect(payments.effects.all()).toHaveLength(1)
  })

  test('begin no try that could not end within the lease', async () => {
    payments.plan = [{ status: 503 }, { status: 503 }, { status: 503 }]
    const retry = { attempts: 4, backoff: '16s', maxBackoff: '20s' }
    const made = bench({ ...KEYED, lease: '45s', timeout: '10s', retry })
    expect(errorCode(await call(made))).toBe('UPSTREAM_ERROR')
    // After 27 s, another pause of 15 s and a try of 10 s are more than 45.
    expect(made.pace.pauses).toEqual([12_000, 15_000])
    expect(payments.keys).toHaveLength(3)
  })

  test('an error that no repeat would mend is not tried again', async () => {
    payments.plan = [{ status: 400 }]
    const made = bench(KEYED)
    expect(await call(made)).toMatchObject({ error: { code: 'UPSTREAM_ERROR' } })
    expect(payments.keys).toHaveLength(1)
  })
})

describe('[R9] without a downstream key', () => {
  test('only what certainly did not happen is tried again', async () => {
    let tries = 0
    const execute = (): object => {
      if (++tries < 3) throw new NotExecuted('busy', { retryAfterMs: 2_000 })
      return { tries }
    }
    const made = bench({ execute })
    expect(await call(made)).toMatchObject({ ok: true, data: { tries: 3 } })
    expect(made.pace.pauses).toEqual([2_000, 2_000])
  })

  test('a refused connection is not trusted: it may be the second request of the tool', async () => {
    let tries = 0
    const execute = (): never => {
      tries++
      throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
    }
    expect(errorCode(await call(bench({ execute })))).toBe('NEEDS_HUMAN')
    expect(tries).toBe(1)
  })

  test('the contract can say what an error means: one HTTP request, refused with 429, was not executed', async () => {
    payments.plan = [{ status: 429, retryAfter: '1' }]
    expect(await call(bench({ classify: oneHttpCall }))).toMatchObject({ ok: true })
    expect(payments.effects.all()).toHaveLength(1)
  })

  test('one HTTP request, refused with 422, is rejected for good', async () => {
    payments.plan = [{ status: 422 }]
    const made = bench({ classify: oneHttpCall })
    expect(await call(made)).toMatchObject({ ok: false, error: { code: 'REJECTED', retriable: false } })
    expect(await call(made)).toMatchObject({ error: { code: 'REJECTED' }, _idempotency: { replay: true } })
    expect(payments.keys).toHaveLength(1)
  })

  test.each([
    [{ status: 408 }, undefined],
    [{ status: 409 }, undefined],
    [{ statusCode: 500 }, undefined],
    [{ response: { status: 404 } }, 'rejected'],
    [{ status: 401 }, 'not-executed'],
    [{ cause: { code: 'ENOTFOUND' } }, 'not-executed'],
    [{ code: 'ECONNRESET' }, undefined],
    ['text', undefined],
  ])('oneHttpCall reads %j as %s', (error, kind) => {
    expect(oneHttpCall(error)).toBe(kind)
  })

  test('a classify that throws has said nothing', async () => {
    const made = bench({
      execute: () => Promise.reject(new TypeError('x')),
      classify: () => {
        throw new TypeError('y')
      },
    })
    expect(errorCode(await call(made))).toBe('NEEDS_HUMAN')
  })
})

describe('a try', () => {
  test('[R33] has a time-out of its own, and its signal says so', async () => {
    const calls: ToolCall[] = []
    const execute = (_: unknown, toolCall: ToolCall): Promise<object> | object => {
      calls.push(toolCall)
      if (toolCall.try === 2) return { done: true }
      return new Promise((_resolve, reject) => {
        toolCall.signal.addEventListener('abort', () => reject(new Error('stopped')))
      })
    }
    const made = bench({ ...KEYED, timeout: '50ms', execute })
    expect(await call(made)).toMatchObject({ ok: true, data: { done: true } })
    expect(calls.map(({ try: number, attempt, signal }) => [number, attempt, signal.aborted])).toEqual([
      [1, 1, true],
      [2, 1, false],
    ])
    expect(calls[0]?.key).toBe(calls[1]?.key)
  })

  test('that answers with something like a promise is waited for', async () => {
    // oxlint-disable-next-line unicorn/no-thenable
    const thenable = { then: (resolve: (value: unknown) => void) => resolve({ id: 're_9' }) }
    expect(await call(bench({ execute: () => thenable }))).toMatchObject({ data: { id: 're_9' } })
  })

  test('that is refused for good is not repeated', async () => {
    let tries = 0
    const execute = (): never => {
      tries++
      throw new Rejected('no')
    }
    expect(errorCode(await call(bench({ ...KEYED, execute })))).toBe('REJECTED')
    expect(tries).toBe(1)
  })
})

test('reads are tried again too, and a model may repeat them', async () => {
  payments.plan = [{ status: 503 }, { status: 503 }, { status: 503 }]
  const made = bench({ effect: 'read' })
  const observation = await call(made)
  expect(observation).toMatchObject({ error: { code: 'UPSTREAM_ERROR', retriable: true } })
  expect(made.broker.toModel('issue_refund', observation)).toMatchObject({ error: { retriable: true } })
  expect(payments.keys).toHaveLength(3)
})
