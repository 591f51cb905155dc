/** The order of a call: schema, right and version before the claim; and the one shape of its answer. */
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createIbid, Rejected } from '../../src/index.js'
import { createBroker } from '../../src/guards/broker/index.js'
import { memoryStore } from '../../src/stores/memory/index.js'
import { faultyStore } from '../../src/testing/index.js'
import { ARGS, type Bench, benchOf, CONTEXT, errorCode, REFUND_SCHEMA, refundTool } from './bench.js'

const nothingClaimed = async ({ ibid }: Bench): Promise<boolean> => (await ibid.list()).receipts.length === 0

describe('[R37] the observation', () => {
  test('is { ok, data, _idempotency }, and a replay gives the same data, marked', async () => {
    let effects = 0
    const { broker } = benchOf([refundTool({ execute: () => ({ id: `re_${++effects}` }) })])
    const first = await broker.call('issue_refund', ARGS, CONTEXT)
    const again = await broker.call('issue_refund', ARGS, CONTEXT)
    expect(first).toEqual({
      ok: true,
      data: { id: 're_1' },
      _idempotency: {
        replay: false,
        key: expect.stringMatching(/^k1:/),
        first_completed_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      },
    })
    expect(again).toEqual({ ...first, _idempotency: { ...first._idempotency, replay: true } })
    expect(effects).toBe(1)
  })

  test('[R5] of a refusal is { ok, error, _idempotency }, and a duplicate is refused the same way', async () => {
    let asked = 0
    const execute = (): never => {
      asked++
      throw new Rejected('the payment was refunded before', {
        code: 'ALREADY_REFUNDED',
        action: 'tell the customer',
        data: { on: '2026-03-01' },
      })
    }
    const { broker } = benchOf([refundTool({ execute })])
    const first = await broker.call('issue_refund', ARGS, CONTEXT)
    const again = await broker.call('issue_refund', ARGS, CONTEXT)
    expect(first).toMatchObject({
      ok: false,
      error: {
        code: 'ALREADY_REFUNDED',
        message: 'the payment was refunded before',
        retriable: false,
        action: 'tell the customer',
        data: { on: '2026-03-01' },
      },
      _idempotency: { replay: false },
    })
    expect(again).toEqual({ ...first, _idempotency: { ...first._idempotency, replay: true } })
    expect(asked).toBe(1)
  })
})

describe('[R33] before the claim', () => {
  const scoped = refundTool({ scope: 'refunds:write' })

  test.each([
    ['no rights', undefined],
    ['other rights', ['refunds:read', 'refunds']],
  ])('a caller with %s is refused', async (_, scopes) => {
    const made = benchOf([scoped])
    expect(errorCode(await made.broker.call('issue_refund', ARGS, { ...CONTEXT, scopes }))).toBe(
      'FORBIDDEN_SCOPE',
    )
    expect(await nothingClaimed(made)).toBe(true)
  })

  test('a caller with the right is served', async () => {
    const { broker } = benchOf([scoped])
    expect((await broker.call('issue_refund', ARGS, { ...CONTEXT, scopes: ['refunds:write'] })).ok).toBe(true)
  })

  test.each([
    ['2.1.0', true],
    ['2.0.3', true],
    ['2.1.1', false],
    ['2.2.0', false],
    ['1.9.0', false],
    ['3.0.0', false],
    ['two', false],
  ])('version 2.1.0 asked for as %s: served %s', async (version, served) => {
    const made = benchOf([refundTool()])
    const observation = await made.broker.call('issue_refund', ARGS, { ...CONTEXT, version })
    expect(errorCode(observation)).toBe(served ? undefined : 'VERSION_MISMATCH')
    expect(await nothingClaimed(made)).toBe(!served)
  })

  test('a new version of the tool replays what the old one did', async () => {
    let ran = 0
    const execute = (): object => ({ ran: ++ran })
    const { ibid, broker } = benchOf([refundTool({ execute })])
    await broker.call('issue_refund', ARGS, CONTEXT)
    const deployed = createBroker({ ibid, tools: [refundTool({ execute, version: '3.0.0' })] })
    expect(await deployed.call('issue_refund', ARGS, CONTEXT)).toMatchObject({ data: { ran: 1 } })
    expect(ran).toBe(1)
  })

  test('a tool that is not there is answered with those that are', async () => {
    const { broker } = benchOf([refundTool()])
    const observation = await broker.call('issue_refnud', ARGS, CONTEXT)
    expect(observation).toMatchObject({ error: { code: 'UNKNOWN_TOOL', action: 'use one of issue_refund' } })
  })

  test('a call that was cancelled before it began is not made; one that began is seen through', async () => {
    const stop = new AbortController()
    const execute = async (): Promise<object> => {
      stop.abort()
      return { id: 're_1' }
    }
    const made = benchOf([refundTool({ execute })])
    const context = { ...CONTEXT, signal: stop.signal }
    expect((await made.broker.call('issue_refund', ARGS, context)).ok).toBe(true)
    expect(errorCode(await made.broker.call('issue_refund', ARGS, { ...context, stepId: 'x' }))).toBe(
      'CANCELLED',
    )
    expect((await made.ibid.list()).receipts).toHaveLength(1)
  })

  test.each([
    ['no tenant', { runId: 'r', stepId: 's' }],
    ['a step without its run', { tenant: 'acme', stepId: 's' }],
    ['an empty run', { tenant: 'acme', runId: '', stepId: 's' }],
    ['an ordinal that is none', { ...CONTEXT, ordinal: -1 }],
    ['nothing that is stable', { tenant: 'acme' }],
  ])('[R1] a context with %s is the mistake of the program: it throws', async (_, context) => {
    const made = benchOf([refundTool()])
    await expect(made.broker.call('issue_refund', ARGS, context)).rejects.toMatchObject({
      code: 'INVALID_INTENT',
    })
    expect(await nothingClaimed(made)).toBe(true)
  })

  test("[R1] a tenant that was looked up and not found is not the broker's own", async () => {
    const made = benchOf([refundTool()], { tenant: 'house' })
    const context = { ...CONTEXT, tenant: null as never }
    await expect(made.broker.call('issue_refund', ARGS, context)).rejects.toMatchObject({
      code: 'INVALID_INTENT',
    })
    expect(await nothingClaimed(made)).toBe(true)
  })
})

describe('[R31] without a receipt', () => {
  test('reads pass through, every time', async () => {
    let ran = 0
    const made = benchOf([refundTool({ effect: 'read', execute: () => ({ ran: ++ran }) })])
    await made.broker.call('issue_refund', ARGS, CONTEXT)
    expect(await made.broker.call('issue_refund', ARGS, CONTEXT)).toEqual({
      ok: true,
      data: { ran: 2 },
      _idempotency: { replay: false, key: null, first_completed_at: null },
    })
    expect(await nothingClaimed(made)).toBe(true)
  })

  test('a write-idempotent tool is keyed by its resource', async () => {
    const keys: string[] = []
    const over = {
      effect: 'write-idempotent',
      resource: 'payment',
      execute: (_: unknown, call: { key: string }) => keys.push(call.key),
    }
    const made = benchOf([refundTool(over), refundTool({ ...over, name: 'by_function', resource: () => 7 })])
    expect(await made.broker.call('issue_refund', ARGS, CONTEXT)).toMatchObject({
      _idempotency: { key: 'pay_1' },
    })
    await made.broker.call('issue_refund', ARGS, { ...CONTEXT, runId: 'another' })
    await made.broker.call('by_function', ARGS, CONTEXT)
    expect(keys).toEqual(['pay_1', 'pay_1', '7'])
    expect(errorCode(await made.broker.call('issue_refund', { ...ARGS, payment: '' }, CONTEXT))).toBe(
      'INVALID_ARGUMENTS',
    )
    expect(await nothingClaimed(made)).toBe(true)
  })
})

test('[R35] a resource that a model left out is told to it, also where a function looks for it', async () => {
  const errors: string[] = []
  const over = { effect: 'write-idempotent', resource: (args: { at: { id: string } }) => args.at.id }
  const { broker } = benchOf([refundTool(over)], { onError: (_error, tool) => errors.push(tool) })
  const answer = await broker.call('issue_refund', ARGS, CONTEXT)
  expect(answer).toMatchObject({ ok: false, error: { code: 'INVALID_ARGUMENTS', retriable: false } })
  expect(errors).toEqual(['issue_refund'])
})

test('[R12] a store that does not answer: nothing is carried out, and the host may ask again', async () => {
  let ran = 0
  const store = faultyStore(memoryStore())
  const ibid = createIbid({ store, housekeeping: false })
  const broker = createBroker({ ibid, tools: [refundTool({ execute: () => ({ ran: ++ran }) })], patience: 0 })
  await broker.call('issue_refund', ARGS, { ...CONTEXT, stepId: 'before' })
  store.startOutage()
  const { observation, shown } = await broker.answer('issue_refund', ARGS, CONTEXT)
  expect(observation).toMatchObject({ error: { code: 'STORE_UNAVAILABLE', retriable: true } })
  expect(shown).toMatchObject({ error: { code: 'STORE_UNAVAILABLE', retriable: false } })
  expect(ran).toBe(1)
  store.endOutage()
  expect(await broker.call('issue_refund', ARGS, CONTEXT)).toMatchObject({ ok: true, data: { ran: 2 } })
  await ibid.close()
  expect(errorCode(await broker.call('issue_refund', ARGS, { ...CONTEXT, stepId: 'after' }))).toBe('CLOSED')
})

test.each(['INVALID_INTENT', 'KEY_REUSED', 'OUTCOME_UNKNOWN'])(
  '[R35] a refusal of the tool may have the code %s: it is still its own',
  async (code) => {
    const execute = (): never => {
      throw new Rejected('no', { code, action: 'stop' })
    }
    const { broker } = benchOf([refundTool({ execute })])
    const first = await broker.call('issue_refund', ARGS, CONTEXT)
    expect(first).toMatchObject({ error: { code, message: 'no', action: 'stop', retriable: false } })
    const again = await broker.call('issue_refund', ARGS, CONTEXT)
    expect(again).toMatchObject({ error: { code, message: 'no' }, _idempotency: { replay: true } })
  },
)

test('a framework finds what it needs to offer the tools', () => {
  const input = z.object({ order: z.string() })
  const { broker } = benchOf([
    refundTool({ title: 'Refund', description: 'Pays back', scope: 's', input }),
    refundTool({ name: 'b' }),
  ])
  expect(broker.tools).toMatchObject([
    {
      name: 'issue_refund',
      title: 'Refund',
      description: 'Pays back',
      version: '2.1.0',
      effect: 'write-non-idempotent',
      scope: 's',
      input,
      inputSchema: { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] },
    },
    { name: 'b', inputSchema: REFUND_SCHEMA },
  ])
  expect(broker.contract('b')?.name).toBe('b')
  expect(broker.contract('c')).toBeUndefined()
})

test('[R50] every decision is in the audit log', async () => {
  const { broker, ibid } = benchOf([refundTool()])
  const { _idempotency } = await broker.call('issue_refund', ARGS, CONTEXT)
  await broker.call('issue_refund', ARGS, CONTEXT)
  const where = { tenant: 'acme', scope: 'tool:issue_refund', key: _idempotency.key as string }
  await broker.call('issue_refund', { ...ARGS, amount: 1 }, CONTEXT)
  await expect
    .poll(async () => (await ibid.history(where)).map(({ event }) => event))
    .toEqual(expect.arrayContaining(['claimed', 'settled', 'dedup_hit', 'conflict']))
})
