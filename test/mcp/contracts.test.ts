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

describe('[R32] a gateway', () => {
  test.each([
    ['no effect', { name: 'pay' }],
    ['an effect that is none', { name: 'pay', effect: 'write' }],
    ['no name', { effect: 'read' }],
    ['a misspelt field', { ...PAY, windows: '7d' }],
    ['a right, which it cannot ask for', { ...PAY, scope: 'refunds:write' }],
    ['a check, which it cannot make', { ...PAY, check: true }],
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

  test.each([
    [PAY],
    [{ ...PAY, version: '1.2.0', identity: { ignore: ['reason'] }, window: '7d', onError: 'unknown' }],
    [{ name: 'set_limit', effect: 'write-idempotent' }],
    [{ name: 'send', effect: 'irreversible', requiresHumanOnRetry: true }],
    [{ name: 'look', effect: 'read' }],
  ])('takes %j', (contract) => {
    expect(open(contract)).toBeTypeOf('function')
  })
})
