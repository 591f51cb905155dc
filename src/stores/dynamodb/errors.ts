/**
 * What DynamoDB says when it says no, told apart: a condition that did not hold, a moment that was a bad one, and
 * everything else. Errors are known by their names, so that any copy of the SDK will do.
 */
import type { AttributeValue, CancellationReason } from '@aws-sdk/client-dynamodb'
import { type IbidError, storeFailure } from '../../core/errors.js'
import type { Skew } from './clock.js'

export type Item = Record<string, AttributeValue>

export function noSdk(cause: unknown): IbidError {
  return storeFailure(
    'the DynamoDB store needs the package @aws-sdk/client-dynamodb, which cannot be loaded; nothing was executed',
    'run "npm install @aws-sdk/client-dynamodb"',
    false,
    cause,
  )
}

export function tooLate(timeoutMs: number, cause: unknown): IbidError {
  return storeFailure(
    `DynamoDB did not answer within ${timeoutMs} ms`,
    'repeat the call; if it goes on, look at the throttling of the table and at the network',
    true,
    cause,
  )
}

export function skewed({ atLeastMs, atMostMs }: Skew, maxSkewMs: number): IbidError {
  const aheadMs = Math.round((atLeastMs + atMostMs) / 2)
  return storeFailure(
    `this computer's clock is about ${Math.abs(aheadMs)} ms ${aheadMs > 0 ? 'ahead of' : 'behind'} DynamoDB's, and no more than ${maxSkewMs} ms are allowed`,
    'set the clock (NTP, chrony, Amazon Time Sync); until then nothing can be claimed from this computer',
    true,
  )
}

/** The condition of a write did not hold. `found` is what stands there instead; undefined: nothing does. */
export interface Refused {
  readonly found: Item | undefined
}

/** Undefined: the write failed for another reason. In a transaction, the first write is the one with a condition. */
export function refusalOf(error: unknown): Refused | undefined {
  if (nameOf(error) === 'ConditionalCheckFailedException') return { found: (error as { Item?: Item }).Item }
  const reason = reasonsOf(error)[0]
  return reason?.Code === 'ConditionalCheckFailed' ? { found: reason.Item } : undefined
}

const BUSY = new Set([
  'TransactionConflictException',
  'TransactionInProgressException',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'ThrottlingException',
  'TransactionConflict',
  'ProvisionedThroughputExceeded',
  'ThrottlingError',
])

/** Nothing is wrong but the moment: somebody else writes this very item, or the table has no room for now. */
export function isBusy(error: unknown): boolean {
  return BUSY.has(nameOf(error)) || reasonsOf(error).some(({ Code }) => Code !== undefined && BUSY.has(Code))
}

export function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : ''
}

function reasonsOf(error: unknown): readonly CancellationReason[] {
  if (nameOf(error) !== 'TransactionCanceledException') return []
  return (error as { CancellationReasons?: CancellationReason[] }).CancellationReasons ?? []
}
