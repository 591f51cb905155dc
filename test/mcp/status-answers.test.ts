/** What a status tool is asked with, and what its answers are taken for: nothing that was not declared. */
import { describe, expect, test } from 'vitest'
import { argumentsOf, type McpCheck, resultIn } from '../../src/adapters/mcp/status-check.js'

const CHECK: McpCheck = {
  tool: 'find',
  arguments: {
    reference: '$key',
    payment: '$args/payment',
    first: '$args/lines/0/id',
    odd: '$args/a~1b~0c',
    price: '$$5',
    deep: { list: ['$args/amount', 7, null, true] },
  },
  found: { at: '/refund/status', is: ['paid', 'pending'] },
  absent: { at: '/refund/status', is: 'none' },
  result: '/refund',
}
const ARGS = { payment: 'pay_1', amount: 5, lines: [{ id: 'l1' }], 'a/b~c': 'odd', reason: 'late' }

const says = (status: unknown) => ({ result: { structuredContent: { refund: { status } } } })
const text = (said: string, more: object = {}) => ({
  result: { content: [{ type: 'text', text: said }], ...more },
})

describe('[R34] the answer of a status tool', () => {
  test.each([
    ['one of the values that mean found', says('pending'), true],
    ['the value that means absent', says('none'), false],
    ['another value', says('who knows'), 'unclear'],
    ['nothing at the place', { result: { structuredContent: {} } }, 'unclear'],
    [
      'something inherited at the place',
      { result: { structuredContent: Object.create({ refund: {} }) } },
      'unclear',
    ],
    ['a text that is JSON', text('{"refund":{"status":"paid"}}'), true],
    ['a text that is none', text('paid'), 'unclear'],
    ['two texts', { result: { content: [{ text: '{}' }, { text: '{}' }] } }, 'unclear'],
    ['absent, and that it failed', { result: { ...says('none').result, isError: true } }, 'unclear'],
    ['found, and that it failed', { result: { ...says('paid').result, isError: true } }, 'unclear'],
    ['an error of the protocol', { error: { code: -32_603, message: 'none' } }, 'unclear'],
  ])('that has %s', (_what, reply, found) => {
    expect(resultIn(CHECK, reply).found).toBe(found)
  })

  test('that fits found and absent at once has told nothing', () => {
    const both = { ...CHECK, absent: { at: '/refund/status', is: ['none', 'paid'] } }
    expect(resultIn(both, says('paid')).found).toBe('unclear')
    expect(resultIn(both, says('none')).found).toBe(false)
  })

  test('is the result of the call, at the place that was named; without that place it has told nothing', () => {
    expect(resultIn(CHECK, says('paid'))).toEqual({
      found: true,
      value: {
        content: [{ type: 'text', text: '{"status":"paid"}' }],
        structuredContent: { status: 'paid' },
      },
    })
    expect(resultIn({ ...CHECK, result: '/refund/id' }, says('paid')).found).toBe('unclear')
    const { result: _, ...whole } = CHECK
    expect(resultIn(whole, says('paid')).value).toMatchObject({
      structuredContent: { refund: { status: 'paid' } },
    })
  })

  test.each([
    [[], false],
    [[{ id: 're_1' }], true],
    [undefined, 'unclear'],
    ['', 'unclear'],
    [{}, 'unclear'],
  ])('that is a list of what was found: %j', (refunds, found) => {
    const lists: McpCheck = {
      tool: 'list',
      arguments: { reference: '$key' },
      found: { at: '/refunds', empty: false },
      absent: { at: '/refunds', empty: true },
      result: '/refunds/0',
    }
    expect(resultIn(lists, { result: { structuredContent: { refunds } } }).found).toBe(found)
  })
})

describe('[R34] a status tool', () => {
  test('is asked with the key, with arguments of the call, and with what stands for itself', () => {
    expect(argumentsOf(CHECK, { key: 'k1', args: ARGS }, undefined)).toEqual({
      reference: 'k1',
      payment: 'pay_1',
      first: 'l1',
      odd: 'odd',
      price: '$5',
      deep: { list: [5, 7, null, true] },
    })
  })

  test('is not asked without an argument that the question is about', () => {
    const { payment: _, ...less } = ARGS
    expect(() => argumentsOf(CHECK, { key: 'k1', args: less }, undefined)).toThrow(
      'the call has no args/payment',
    )
  })

  test('is not asked by an argument that the schema of the tool marks as worded anew', () => {
    const schema = {
      type: 'object',
      properties: { reason: { type: 'string', non_idempotent: true } },
    } as const
    const byReason = { ...CHECK, arguments: { why: '$args/reason' } }
    expect(() => argumentsOf(byReason, { key: 'k1', args: ARGS }, { schema })).toThrow('worded anew')
    expect(argumentsOf(byReason, { key: 'k1', args: ARGS }, { ignore: ['note'] })).toEqual({ why: 'late' })
  })
})
