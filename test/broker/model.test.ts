/** What the model sees: the same at every replay, small, and without keys and secrets. */
import { describe, expect, test } from 'vitest'
import { OutcomeUnknown, Rejected } from '../../src/index.js'
import { type ToolCall } from '../../src/guards/broker/index.js'
import { ARGS, type Bench, benchOf, CONTEXT, refundTool } from './bench.js'

async function seen(made: Bench, model?: string): Promise<unknown> {
  return made.broker.toModel('issue_refund', await made.broker.call('issue_refund', ARGS, CONTEXT), model)
}

const echo = (_: unknown, call: ToolCall): object => ({
  id: 're_1',
  [call.key]: { used: `key=${call.key};` },
})

const refuse = (_: unknown, { key }: ToolCall): never => {
  throw new Rejected(`${key} was used before`, { action: `forget ${key}`, data: [key] })
}

const refuseForNow = (): never => {
  throw new Rejected('no', { retryAfterMs: 5_000 })
}

const leak = (): object => ({ url: 'https://x/?token=s3cr3t', list: ['sk_live_12345'], s3cr3t: 1 })

const fail = (): Promise<never> => Promise.reject(new Error('password=hunter2 at 10.0.0.7'))

const countOf = (result: { rows: unknown[] }, model?: string): object => ({
  count: result.rows.length,
  model,
})

const oops = (): never => {
  throw new TypeError('oops')
}

test.each([
  ['a result', { execute: () => ({ id: 're_1', at: new Date(0), sum: 10n, tags: new Set(['a']) }) }],
  [
    'a refusal',
    {
      execute: () => {
        throw new Rejected('no', { data: { why: 'x' } })
      },
    },
  ],
  [
    'an unknown outcome',
    {
      execute: () => {
        throw new OutcomeUnknown('?')
      },
    },
  ],
  ['nothing', { execute: () => undefined }],
])('[R37] %s looks the same to the model the first time and at every replay', async (_, over) => {
  const made = benchOf([refundTool(over)])
  const first = JSON.stringify(await seen(made))
  expect(JSON.stringify(await seen(made))).toBe(first)
  expect(JSON.stringify(await seen(made))).toBe(first)
  expect(first).not.toContain('_idempotency')
})

describe('[R25] no key is shown', () => {
  test('in a result that echoes it, in names or in text', async () => {
    const made = benchOf([refundTool({ execute: echo })])
    expect(await seen(made)).toEqual({ ok: true, data: { id: 're_1', '[key]': { used: 'key=[key];' } } })
  })

  test('in a refusal that names it', async () => {
    expect(JSON.stringify(await seen(benchOf([refundTool({ execute: refuse })])))).not.toMatch(/k1:/)
  })

  test('in the first result that a diverged call is told of', async () => {
    const { broker } = benchOf([refundTool({ execute: echo })])
    await broker.call('issue_refund', ARGS, CONTEXT)
    const diverged = await broker.call('issue_refund', { ...ARGS, amount: 1 }, CONTEXT)
    expect(JSON.stringify(broker.toModel('issue_refund', diverged))).not.toMatch(/k1:/)
  })
})

test.each([
  ['a shorter one', ['admin', 'admin:hunter2'], 'as admin:hunter2 now', 'as [redacted] now'],
  ['a pattern', [/hunter\d/y, 'admin:hunter'], 'as admin:hunter2 now', 'as [redacted] now'],
  ['none', ['admin', 'hunter2', ''], 'as admin:hunter2 now', 'as [redacted]:[redacted] now'],
])('no part of a secret is left by %s that it shares text with', async (_name, secrets, said, shown) => {
  const made = benchOf([refundTool({ execute: () => ({ said, number: 4_242n }) })], {
    secrets: [...secrets, '4242'],
  })
  expect(await seen(made)).toEqual({ ok: true, data: { said: shown, number: '[redacted]' } })
})

test('[R37] a refusal has no time to come again, at first as in its replay', async () => {
  const made = benchOf([refundTool({ execute: refuseForNow })])
  const first = await seen(made)
  expect(first).not.toHaveProperty('error.retry_after_ms')
  expect(await seen(made)).toEqual(first)
})

test('secrets of the host are taken out, wherever they turn up', async () => {
  const made = benchOf([refundTool({ execute: leak })], { secrets: ['s3cr3t', /sk_live_\w+/] })
  expect(await seen(made)).toEqual({
    ok: true,
    data: { url: 'https://x/?token=[redacted]', list: ['[redacted]'], '[redacted]': 1 },
  })
})

test('[R35] the text of an error that nobody read is shown to the host, not to the model', async () => {
  const errors: unknown[] = []
  const made = benchOf([refundTool({ execute: fail, downstream: { acceptsKey: true, window: '30d' } })], {
    onError: (error, tool) => {
      errors.push([tool, (error as Error).message])
      throw error
    },
  })
  const observation = await made.broker.call('issue_refund', ARGS, CONTEXT)
  expect(observation).toMatchObject({ error: { code: 'UPSTREAM_ERROR', message: 'the tool failed' } })
  expect(JSON.stringify(observation)).not.toContain('hunter2')
  expect(errors).toEqual([['issue_refund', 'password=hunter2 at 10.0.0.7']])
})

describe('a large result', () => {
  const rows = Array.from({ length: 5_000 }, (_, n) => ({ n }))

  test('is shortened for the model by outputFor, and stored and replayed whole', async () => {
    const made = benchOf([refundTool({ execute: () => ({ rows }), outputFor: countOf })])
    expect(await seen(made, 'small')).toEqual({ ok: true, data: { count: 5_000, model: 'small' } })
    const again = await made.broker.call('issue_refund', ARGS, CONTEXT)
    expect(again).toMatchObject({ ok: true, data: { rows }, _idempotency: { replay: true } })
  })

  test('is cut where the contract does not shorten it', async () => {
    const made = benchOf([refundTool({ execute: () => ({ rows }) })], { maxModelCharacters: 100 })
    const shown = (await seen(made)) as { data: { shortened: true; characters: number; beginning: string } }
    expect(shown.data).toMatchObject({ shortened: true, characters: JSON.stringify({ rows }).length })
    expect(shown.data.beginning).toHaveLength(100)
  })

  test('whose outputFor throws is still a success', async () => {
    expect(await seen(benchOf([refundTool({ outputFor: oops })]))).toMatchObject({
      ok: true,
      data: { unavailable: expect.any(String) },
    })
  })
})

function nested(depth: number): unknown {
  let one: unknown = 'inside'
  for (let at = 0; at < depth; at++) one = [one]
  return one
}

const refuseOddly = (): never => {
  throw new Rejected('no', { data: { toJSON: oops } })
}

describe.each(['write-non-idempotent', 'read'])('a result of a %s that cannot be shown', (effect) => {
  test.each<[string, unknown]>([
    ['whose toJSON throws', { toJSON: oops }],
    ['whose getter throws', Object.defineProperty({}, 'id', { enumerable: true, get: oops })],
    ['that is nested without end', nested(50_000)],
  ])('%s: the call is a success all the same', async (_, result) => {
    const shown = await seen(benchOf([refundTool({ effect, execute: () => result })]))
    expect(shown).toEqual({ ok: true, data: { unavailable: expect.any(String) as string } })
  })

  test('whose refusal has data that throw: the refusal is told', async () => {
    expect(await seen(benchOf([refundTool({ effect, execute: refuseOddly })]))).toMatchObject({
      ok: false,
      error: { message: 'no', data: { unavailable: expect.any(String) as string } },
    })
  })
})

test('results that contain themselves, bytes and what is no data do not break the view', async () => {
  const loop: Record<string, unknown> = {
    bytes: new Uint8Array(3),
    map: new Map([['a', 1]]),
    nan: Number.NaN,
    f: () => 1,
  }
  loop['self'] = loop
  loop['twice'] = [loop, { loop }]
  const made = benchOf([refundTool({ effect: 'read', execute: () => loop })], { maxModelCharacters: 1_000 })
  expect(await seen(made)).toEqual({
    ok: true,
    data: {
      bytes: '[3 bytes]',
      map: [['a', 1]],
      nan: 'NaN',
      self: '[contains itself]',
      twice: ['[contains itself]', { loop: '[contains itself]' }],
    },
  })
})
