import { describe, expect, it } from 'vitest'
import * as errors from '../../src/core/errors.js'
import { view } from '../../src/core/receipt.js'
import { receipt } from './receipt-sample.js'

const seen = view(receipt())

describe('every error says what to do', () => {
  it.each<[errors.IbidError, string, boolean, string]>([
    [
      errors.invalidIntent('key is missing', 'give the intent a key'),
      'INVALID_INTENT',
      false,
      'nothing was executed',
    ],
    [errors.keyReused(seen), 'KEY_REUSED', false, 'belongs to another payload; nothing was executed'],
    [errors.retryInFlight(seen, 40), 'RETRY_IN_FLIGHT', true, 'is being executed right now (attempt 1)'],
    [errors.outcomeUnknown(seen, 'the lease lapsed'), 'OUTCOME_UNKNOWN', false, 'happened: the lease lapsed'],
    [errors.leaseLost(seen), 'LEASE_LOST', true, 'lost its lease'],
    [
      errors.storeUnavailable('nothing was executed', new TypeError('down')),
      'STORE_UNAVAILABLE',
      true,
      'down',
    ],
    [errors.storeUnavailable('nothing was executed', 'gone'), 'STORE_UNAVAILABLE', true, 'gone'],
    [errors.storeFailure('the disk is full', 'make room on it', true), 'STORE_UNAVAILABLE', true, 'full'],
    [errors.unsafeStore('it evicts'), 'UNSAFE_STORE', false, 'it evicts'],
    [errors.transactionEnded(), 'INVALID_INTENT', false, 'nothing was written'],
    [errors.closed(), 'CLOSED', false, 'was closed'],
    [new errors.Rejected('no funds'), 'REJECTED', false, 'no funds'],
    [new errors.NotExecuted('busy'), 'NOT_EXECUTED', true, 'busy'],
    [new errors.OutcomeUnknown('timed out'), 'OUTCOME_UNKNOWN', false, 'timed out'],
  ])('%s [R35]', (error, code, retriable, words) => {
    expect(error).toBeInstanceOf(errors.IbidError)
    expect(error).toMatchObject({ code, retriable })
    expect(error.message).toContain(words)
    expect(error.action.length).toBeGreaterThan(10)
  })
})

it('an in-flight error says when to retry [R6]', () => {
  expect(errors.retryInFlight(seen, 40)).toMatchObject({ retryAfterMs: 40, receipt: seen })
})

it('a store that does not answer is asked again in a second, with its own words in the message [R35]', () => {
  const cause = new TypeError('down')
  const error = errors.storeUnavailable('nothing was executed', cause)
  expect(error.message).toBe('the receipt store did not answer: down; nothing was executed')
  expect(error).toMatchObject({ retryAfterMs: 1_000, cause })
})

it('an error without a cause has no such member, so that no log shows one', () => {
  expect('cause' in errors.closed()).toBe(false)
})

it('a verdict takes the code and words of the tool, but cannot change what it means for a retry [R9] [R35]', () => {
  const options = {
    code: 'CARD_DECLINED',
    action: 'ask for another card',
    data: { last4: '4242' },
    retriable: true,
  }
  expect(new errors.Rejected('declined', options)).toMatchObject({
    ...options,
    retriable: false,
    name: 'Rejected',
  })
  expect(new errors.NotExecuted('busy', { ...options, retriable: false } as object).retriable).toBe(true)
  expect(new errors.OutcomeUnknown('?', options).retriable).toBe(false)
})

it('what crosses a wire has no cause and no token [R35]', () => {
  const cause = new TypeError('secret')
  const error = errors.outcomeUnknown(seen, 'it timed out', cause)
  expect(error.cause).toBe(cause)
  const text = JSON.stringify(new errors.Rejected('no', { cause, replayed: true, receipt: seen, data: 1 }))
  expect(JSON.parse(text)).toEqual({
    code: 'REJECTED',
    message: 'no',
    retriable: false,
    action: 'do not repeat this call: the refusal is final for this key',
    replayed: true,
    data: 1,
    receipt: JSON.parse(JSON.stringify(seen)) as unknown,
  })
  expect(text).not.toContain('token')
})
