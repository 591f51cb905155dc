/**
 * Every error that a user of ibid can meet. Each says what happened, what that means for the effect,
 * and what to do: `code` for programs, `message` for people, `action` for whoever acts on it, a model included.
 */
import type { ReceiptView } from './receipt.js'

export type IbidCode =
  | 'KEY_REUSED'
  | 'RETRY_IN_FLIGHT'
  | 'OUTCOME_UNKNOWN'
  | 'LEASE_LOST'
  | 'STORE_UNAVAILABLE'
  | 'INVALID_INTENT'
  | 'UPSTREAM_TIMEOUT'
  | 'PARTIAL_SUCCESS'
  | 'INVALID_ARGUMENTS'
  | 'FORBIDDEN_SCOPE'
  | 'VERSION_MISMATCH'
  | 'DIVERGED_REPLAY'
  | 'NEEDS_HUMAN'
  | 'ADMISSION_REJECTED'
  | 'REJECTED'
  | 'NOT_EXECUTED'
  | 'NOT_HELD'
  | 'VALUE_NOT_RETAINED'
  | 'UNSAFE_STORE'
  | 'CLOSED'

export interface ErrorFacts {
  /** One of ibid's codes, or the tool's own. */
  readonly code: IbidCode | (string & {})
  /** May the same call, with the same key, be made again? */
  readonly retriable: boolean
  readonly retryAfterMs?: number | undefined
  /** What to do now, in words that a person or a model can act on. */
  readonly action: string
  readonly receipt?: ReceiptView | undefined
  readonly replayed?: boolean | undefined
  /** Whatever the effect wants kept with a rejection: plain JSON. */
  readonly data?: unknown
  readonly cause?: unknown
}

export class IbidError extends Error {
  readonly code: string
  readonly retriable: boolean
  readonly retryAfterMs?: number
  readonly action: string
  readonly receipt?: ReceiptView
  readonly replayed?: boolean
  readonly data?: unknown

  constructor(message: string, facts: ErrorFacts) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause })
    this.name = 'IbidError'
    this.code = facts.code
    this.retriable = facts.retriable
    this.action = facts.action
    if (facts.retryAfterMs !== undefined) this.retryAfterMs = facts.retryAfterMs
    if (facts.receipt !== undefined) this.receipt = facts.receipt
    if (facts.replayed !== undefined) this.replayed = facts.replayed
    if (facts.data !== undefined) this.data = facts.data
  }

  /** What may cross a wire or a log: never the cause, which can hold anything. */
  toJSON(): Record<string, unknown> {
    const { code, message, retriable, retryAfterMs, action, replayed, data, receipt } = this
    return { code, message, retriable, retryAfterMs, action, replayed, data, receipt }
  }
}

export type VerdictOptions = Partial<Omit<ErrorFacts, 'retriable'>>

/** A member without a value leaves what is usual. */
function said(options: VerdictOptions): VerdictOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
}

/** Thrown by an effect: refused for good. Stored, and given again to every duplicate. */
export class Rejected extends IbidError {
  constructor(message: string, options: VerdictOptions = {}) {
    super(message, {
      code: 'REJECTED',
      action: 'do not repeat this call: the refusal is final for this key',
      ...said(options),
      retriable: false,
    })
    this.name = 'Rejected'
  }
}

/** Thrown by an effect: certainly nothing happened. The key is given back, and the same call may run again. */
export class NotExecuted extends IbidError {
  constructor(message: string, options: VerdictOptions = {}) {
    super(message, {
      code: 'NOT_EXECUTED',
      action: 'repeat the same call with the same key',
      ...said(options),
      retriable: true,
    })
    this.name = 'NotExecuted'
  }
}

/** Thrown by an effect: it may or may not have happened. Held until a person or a checker says which. */
export class OutcomeUnknown extends IbidError {
  constructor(message: string, options: VerdictOptions = {}) {
    super(message, {
      code: 'OUTCOME_UNKNOWN',
      action:
        'do not repeat this call and do not use a new key: look up what happened downstream, then resolve the receipt',
      ...said(options),
      retriable: false,
    })
    this.name = 'OutcomeUnknown'
  }
}

export function invalidIntent(message: string, action: string): IbidError {
  return new IbidError(`${message}; nothing was executed`, {
    code: 'INVALID_INTENT',
    retriable: false,
    action,
  })
}

export function keyReused(receipt: ReceiptView): IbidError {
  return new IbidError(
    `key ${JSON.stringify(receipt.key)} in scope ${JSON.stringify(receipt.scope)} belongs to another payload; nothing was executed`,
    {
      code: 'KEY_REUSED',
      retriable: false,
      action: 'use a new key for a new action, or send exactly the payload that the key was first used with',
      receipt,
    },
  )
}

export function retryInFlight(receipt: ReceiptView, retryAfterMs: number): IbidError {
  return new IbidError(
    `key ${JSON.stringify(receipt.key)} in scope ${JSON.stringify(receipt.scope)} is being executed right now (attempt ${receipt.attempt}); this call executed nothing`,
    {
      code: 'RETRY_IN_FLIGHT',
      retriable: true,
      retryAfterMs,
      action: `repeat the same call with the same key in ${retryAfterMs} ms to get the result`,
      receipt,
    },
  )
}

export function outcomeUnknown(receipt: ReceiptView, why: string, cause?: unknown): OutcomeUnknown {
  return new OutcomeUnknown(
    `it is not known whether the effect of key ${JSON.stringify(receipt.key)} in scope ${JSON.stringify(receipt.scope)} happened: ${why}`,
    { receipt, cause },
  )
}

export function leaseLost(receipt: ReceiptView): IbidError {
  return new IbidError(
    `attempt ${receipt.attempt} of key ${JSON.stringify(receipt.key)} in scope ${JSON.stringify(receipt.scope)} lost its lease; whatever it did is not recorded, and another attempt decides`,
    {
      code: 'LEASE_LOST',
      retriable: true,
      action: 'repeat the same call with the same key to get the result of the attempt that took over',
      receipt,
    },
  )
}

/** `meaning` says what the failure means for the effect: did it run, and is that recorded? */
export function storeUnavailable(meaning: string, cause: unknown): IbidError {
  const reason = cause instanceof Error ? cause.message : String(cause)
  return new IbidError(`the receipt store did not answer: ${reason}; ${meaning}`, {
    code: 'STORE_UNAVAILABLE',
    retriable: true,
    retryAfterMs: 1_000,
    action:
      'repeat the same call with the same key once the store is back; do not call the effect without it',
    cause,
  })
}

/** Said by a store of itself. */
export function storeFailure(
  message: string,
  action: string,
  retriable: boolean,
  cause?: unknown,
): IbidError {
  return new IbidError(message, { code: 'STORE_UNAVAILABLE', retriable, action, cause })
}

export function unsafeStore(problems: string): IbidError {
  return new IbidError(
    `the receipt store is not set up to keep its promises; nothing was executed: ${problems}`,
    {
      code: 'UNSAFE_STORE',
      retriable: false,
      action: "fix the store's settings as the message says, or accept the named risk in the store's options",
    },
  )
}

/** Of a transaction that is used after its work has returned, or was left behind. */
export function transactionEnded(): IbidError {
  return new IbidError('this transaction has ended; nothing was written', {
    code: 'INVALID_INTENT',
    retriable: false,
    action: 'await everything that writes to the transaction before the work returns, and stop at its signal',
  })
}

export function closed(): IbidError {
  return new IbidError('this ibid was closed; nothing was executed', {
    code: 'CLOSED',
    retriable: false,
    action: 'create a new one, or close it only when the last call has ended',
  })
}
