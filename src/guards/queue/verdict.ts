/**
 * What a consumer tells its broker about a message, and how an error becomes that. Three kinds of failure are kept
 * apart: the guard's own (nothing is known to be wrong with the message: later), the handler's (counted in the
 * receipt: later, and after the limit never again), and the message's (it can never be handled: dead).
 */
import { IbidError } from '../../core/errors.js'
import type { ReceiptView } from '../../core/receipt.js'

export interface Ack<T = unknown> {
  readonly kind: 'ack'
  readonly value: T
  /** The handler did not run for this delivery: the value is the one of an earlier one. */
  readonly replayed: boolean
  readonly reason: string
  readonly receipt: ReceiptView | undefined
}

export interface Retry {
  readonly kind: 'retry'
  readonly delayMs: number
  readonly code: string
  readonly reason: string
  readonly error: unknown
}

export interface Dead {
  readonly kind: 'dead'
  readonly code: string
  readonly reason: string
  readonly error: unknown
}

export type Verdict<T = unknown> = Ack<T> | Retry | Dead

export interface Delays {
  /** When the guard itself fails. */
  readonly guardMs: number
  /** After the handler's n-th attempt failed. */
  readonly handlerMs: (attempt: number) => number
  /** Whoever comes back later than this for the next attempt may find that the window is over, and the message dead. */
  readonly longestMs: number
}

export function acked<T>(value: T, replayed: boolean, receipt: ReceiptView | undefined): Ack<T> {
  return { kind: 'ack', value, replayed, reason: replayed ? 'done before' : 'done', receipt }
}

/** The handler ran, and failed in a way that may be tried again. */
export function handlerFailed(error: unknown, attempt: number, delays: Delays): Retry {
  const delayMs = Math.min(askedFor(error) ?? delays.handlerMs(attempt), delays.longestMs)
  return { kind: 'retry', delayMs, code: codeOf(error, 'HANDLER_FAILED'), reason: reasonOf(error), error }
}

/** What `once` answered instead of a value, other than by the handler's own words. */
export function refused(error: unknown, delays: Delays): Ack<undefined> | Retry | Dead {
  const code = codeOf(error, 'GUARD_FAILED')
  const reason = reasonOf(error)
  const receipt = error instanceof IbidError ? error.receipt : undefined
  switch (code) {
    case 'VALUE_NOT_RETAINED':
      return acked(undefined, true, receipt)
    case 'RETRY_IN_FLIGHT':
      return {
        kind: 'retry',
        delayMs: askedFor(error) ?? delays.guardMs,
        code,
        reason,
        error,
      }
    case 'KEY_REUSED':
    case 'OUTCOME_UNKNOWN':
      return { kind: 'dead', code, reason, error }
    default:
      return { kind: 'retry', delayMs: delays.guardMs, code, reason, error }
  }
}

export function dead(error: unknown): Dead {
  return { kind: 'dead', code: codeOf(error, 'UNREADABLE'), reason: reasonOf(error), error }
}

/** Undefined where the error names no time, or none that there is: brokers take such a one for "at once". */
function askedFor(error: unknown): number | undefined {
  const ms = error instanceof IbidError ? error.retryAfterMs : undefined
  return ms !== undefined && Number.isFinite(ms) && ms >= 0 ? Math.ceil(ms) : undefined
}

/** Programs without types give numbers. */
function codeOf(error: unknown, otherwise: string): string {
  return error instanceof IbidError ? `${error.code as unknown as string | number}` : otherwise
}

/** Nobody holds what is thrown to texts, and some of it cannot even be asked for one. */
export function reasonOf(error: unknown): string {
  try {
    return String(error instanceof Error ? error.message : error)
  } catch {
    return 'what was thrown cannot be read'
  }
}
