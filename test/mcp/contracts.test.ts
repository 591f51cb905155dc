/** Contracts that a gateway takes, and those that it refuses before it starts. */
import { describe, expect, test } from 'vitest'
import { httpGateway, type McpContract } from '../../src/adapters/mcp.js'
import { createIbid } from '../../src/index.js'
import { memoryStore } from '../../src/stores/memory/index.js'

function open(...contracts: readonly object[]): unknown {
  const ibid = createIbid({ store: memoryStore(), tenant: 'acme', housekeeping: false })
  const upstream = 'http://127.0.0.1:1/mcp'
  return httpGateway({
    ibid,
    tenant: 'acme',
    server: 'bank',
    upstream,
    contracts: contracts as readonly McpContract[],
  })
}

const PAY = { name: 'pay', effect: 'write-non-idempotent' }
const CHECK = {
  tool: 'find',
  arguments: { id: '$key' },
  found: { at: '/status', is: 'paid' },
  absent: { at: '/status', is: [null, 'none'] },
}

describe('[R32] a gateway', () => {
  test.each([
    ['no effect', { name: 'pay' }],
    ['an effect that is none', { name: 'pay', effect: 'write' }],
    ['no name', { effect: 'read' }],
    ['a misspelt field', { ...PAY, windows: '7d' }],
    ['a right, which it cannot ask for', { ...PAY, scope: 'refunds:write' }],
    ['a check that is no data', { ...PAY, check: true }],
    ['a check that names no tool', { ...PAY, check: { ...CHECK, tool: '' } }],
    ['a check that is the tool itself', { ...PAY, check: { ...CHECK, tool: 'pay' } }],
    ['a check with a misspelt field', { ...PAY, check: { ...CHECK, args: {} } }],
    ['a check without arguments', { ...PAY, check: { ...CHECK, arguments: undefined } }],
    ['a check that asks the same of every call', { ...PAY, check: { ...CHECK, arguments: { limit: 1 } } }],
    [
      'a check that takes an argument from nowhere',
      { ...PAY, check: { ...CHECK, arguments: { id: '$id' } } },
    ],
    ['a check that does not say what absent looks like', { ...PAY, check: { ...CHECK, absent: undefined } }],
    ['a check that compares with a list', { ...PAY, check: { ...CHECK, found: { at: '/a', is: [[1]] } } }],
    ['a check that compares with nothing', { ...PAY, check: { ...CHECK, found: { at: '/a', is: [] } } }],
    ['a check whose place is none', { ...PAY, check: { ...CHECK, found: { at: 'status', is: 'paid' } } }],
    ['a check whose result is no place', { ...PAY, check: { ...CHECK, result: 'payment' } }],
    [
      'a check that asks by what a retry words anew',
      { ...PAY, identity: { ignore: ['reason'] }, check: { ...CHECK, arguments: { why: '$args/reason' } } },
    ],
    [
      'a check that asks by what is not compared',
      { ...PAY, identity: { include: ['to'] }, check: { ...CHECK, arguments: { why: '$args/reason' } } },
    ],
    [
      'a check that would be believed before the server has had its time',
      { ...PAY, timeout: '30s', lease: '30s', check: CHECK },
    ],
    ['a check of a read', { name: 'look', effect: 'read', check: CHECK }],
    ['retries, which it does not make', { ...PAY, retry: { attempts: 3 } }],
    ['a duration that is none', { ...PAY, window: 'a week' }],
    [
      'a longer window than the downstream honours',
      { ...PAY, window: '7d', downstream: { acceptsKey: true, window: '1d' } },
    ],
    ['an irreversible effect that nothing guards', { name: 'pay', effect: 'irreversible' }],
  ])('refuses %s', (_what, contract) => {
    expect(() => open(contract)).toThrowError(expect.objectContaining({ code: 'INVALID_INTENT' }) as Error)
  })

  test('refuses two contracts for one tool', () => {
    expect(() => open(PAY, PAY)).toThrowError('two contracts')
  })

  test('refuses a check with a tool that writes by its own contract', () => {
    const find = { name: 'find', effect: 'write-idempotent' }
    expect(() => open({ ...PAY, check: CHECK }, find)).toThrowError('which by its own contract writes')
    expect(open({ ...PAY, check: CHECK }, { ...find, effect: 'read' })).toBeTypeOf('function')
  })

  test.each([
    [PAY],
    [{ ...PAY, version: '1.2.0', identity: { ignore: ['reason'] }, window: '7d', onError: 'unknown' }],
    [{ name: 'set_limit', effect: 'write-idempotent' }],
    [{ name: 'send', effect: 'irreversible', requiresHumanOnRetry: true }],
    [{ name: 'look', effect: 'read' }],
    [{ ...PAY, check: CHECK }],
    [{ name: 'send', effect: 'irreversible', check: CHECK }],
    [
      {
        ...PAY,
        identity: { ignore: ['reason'] },
        check: { ...CHECK, arguments: { a: ['$args/to/0', '$$5'] } },
      },
    ],
    [
      {
        ...PAY,
        check: { ...CHECK, found: { at: '/refunds', empty: false }, absent: { at: '/refunds', empty: true } },
      },
    ],
  ])('takes %j', (contract) => {
    expect(open(contract)).toBeTypeOf('function')
  })
})
