/** Contracts as data: JSON and YAML text, and an executor for a tool that lives elsewhere. */
import { describe, expect, test } from 'vitest'
import { lintContract, readContracts, toolFromData, type ToolCall } from '../../src/guards/broker/index.js'
import { benchOf, CONTEXT, errorCode } from './bench.js'

const YAML = `
name: issue_refund
version: 2.1.0
effect: irreversible
description: Pays a customer back.
scope: refunds:write
window: 14d
timeout: 20s
requires_human_on_retry: false
retry: { attempts: 2, max_backoff: 5s }
downstream: { accepts_key: true, window: 30d }
check: true
input:
  type: object
  required: [payment, amount]
  properties:
    payment: { type: string }
    amount: { type: integer, minimum: 1 }
    reason: { type: string, non_idempotent: true }
`

const JSON_TEXT = JSON.stringify([
  { name: 'get_refund', version: '1.0.0', effect: 'read', input: { type: 'object' } },
  {
    name: 'put_note',
    version: '1.0.0',
    effect: 'write-idempotent',
    resource: 'note',
    input: { type: 'object', properties: { note: { type: 'string' } }, required: ['note'] },
  },
])

const context = { ...CONTEXT, scopes: ['refunds:write'] }

test('[R30] a contract in YAML is a tool once it has an executor', async () => {
  const calls: ToolCall[] = []
  const [data] = readContracts(YAML)
  if (!data) throw new TypeError('no contract')
  expect(data).toMatchObject({
    requiresHumanOnRetry: false,
    downstream: { acceptsKey: true },
    retry: { maxBackoff: '5s' },
  })
  const tool = toolFromData(data, {
    execute: (args, call) => ({ ...(args as object), n: calls.push(call) }),
    check: () => ({ found: 'unclear' }),
  })
  expect(lintContract(tool)).toEqual([])
  const bench = benchOf([tool])
  const args = { payment: 'pay_1', amount: 5 }
  expect(await bench.broker.call('issue_refund', { ...args, reason: 'a' }, context)).toMatchObject({
    data: { ...args, n: 1 },
  })
  expect(await bench.broker.call('issue_refund', { ...args, reason: 'b' }, context)).toMatchObject({
    data: { n: 1 },
    _idempotency: { replay: true },
  })
  expect(errorCode(await bench.broker.call('issue_refund', { ...args, amount: 0 }, context))).toBe(
    'INVALID_ARGUMENTS',
  )
  expect((await bench.ibid.list()).receipts).toMatchObject([{ windowMs: 14 * 86_400_000, recovery: 'retry' }])
  expect(calls).toHaveLength(1)
})

test('[R30] contracts in JSON come as a list, and one executor can serve them all', async () => {
  const tools = readContracts(JSON_TEXT).map((data) =>
    toolFromData(data, { execute: (_, call) => [call.tool, call.key] }),
  )
  const bench = benchOf(tools)
  expect(await bench.broker.call('get_refund', {}, context)).toMatchObject({ data: ['get_refund', ''] })
  expect(await bench.broker.call('put_note', { note: 'n1' }, context)).toMatchObject({
    data: ['put_note', 'n1'],
  })
})

describe('[R32] refused', () => {
  test.each([
    ['a check that the executor does not have', YAML, /promises a check/],
    ['text that is neither', 'name: [', /cannot be read/],
    ['two values for one field', '{"name":"a","name":"b"}', /name/],
    ['something else', '"just text"', /is not an object/],
  ])('%s', (_, text, reason) => {
    expect(() => readContracts(text).map((data) => toolFromData(data, { execute: () => 1 }))).toThrow(reason)
  })

  test('a lie, the same as in code', () => {
    const lying = YAML.replace('window: 14d', 'window: 60d')
    const tools = readContracts(lying).map((data) =>
      toolFromData(data, { execute: () => 1, check: () => ({ found: 'unclear' }) }),
    )
    expect(() => benchOf(tools)).toThrow(/WINDOW_BEYOND_DOWNSTREAM/)
  })
})

test('the executor keeps its own functions', async () => {
  const [data] = readContracts(
    '{"name":"a","version":"1.0.0","effect":"write-non-idempotent","undo":true,"input":{}}',
  )
  if (!data) throw new TypeError('no contract')
  let undone = 0
  const tool = toolFromData(data, {
    execute: () => Promise.reject(new Error('no')),
    undo: () => ++undone,
    classify: () => 'rejected',
    outputFor: () => 'short',
  })
  expect(tool.undo?.(1, {} as ToolCall)).toBe(1)
  const bench = benchOf([tool])
  expect(await bench.broker.call('a', {}, context)).toMatchObject({
    error: { code: 'REJECTED', message: 'no' },
  })
  expect(tool.outputFor?.(1, undefined)).toBe('short')
})
