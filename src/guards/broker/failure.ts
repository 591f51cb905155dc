/**
 * What a tool throws, read for what it says about the effect. Only the tool itself, by a verdict or by
 * `classify`, can say that nothing happened: an error that looks like a refused connection may come from its
 * second request. The looks of an error decide only whether a repeat that does no harm is worth trying.
 */
import { IbidError, NotExecuted, OutcomeUnknown, Rejected, type VerdictOptions } from '../../core/errors.js'
import type { Contract, FailureKind } from './contract.js'

/** Thrown by a tool: some of it happened. Stored, given again to every duplicate, and never retried blindly. */
export class PartialSuccess extends Rejected {
  constructor(
    message: string,
    facts: {
      /** What happened. */
      readonly done: unknown
      /** What did not. */
      readonly missing?: unknown
      /** What would put it right, in words that a model acts on. */
      readonly action: string
    },
  ) {
    const { done, missing, action } = facts
    super(message, {
      code: 'PARTIAL_SUCCESS',
      action,
      data: { done, ...(missing === undefined ? {} : { missing }) },
    })
    this.name = 'PartialSuccess'
  }
}

/** A try that did not end in time. Its request may still be carried out. */
export class TryTimeout extends Error {}

/** What is known of an ambiguous failure where a repeat with the same key does no harm. */
export function mayRepeat(error: unknown): IbidError {
  const timedOut = isTimeout(error)
  return new IbidError(timedOut ? 'the tool did not answer in time' : 'the tool failed', {
    code: timedOut ? 'UPSTREAM_TIMEOUT' : 'UPSTREAM_ERROR',
    retriable: true,
    retryAfterMs: retryAfterMsOf(error) ?? 1_000,
    action: 'make exactly the same call again later: it will not be done twice',
    cause: error,
  })
}

export function needsHuman(why: string, cause?: unknown): OutcomeUnknown {
  return new OutcomeUnknown(why, { code: 'NEEDS_HUMAN', cause })
}

export function kindOf(contract: Pick<Contract, 'classify'>, error: unknown): FailureKind {
  if (error instanceof Rejected) return 'rejected'
  if (error instanceof NotExecuted) return 'not-executed'
  if (error instanceof OutcomeUnknown || error instanceof TryTimeout) return 'unknown'
  try {
    return contract.classify?.(error) ?? 'unknown'
  } catch {
    return 'unknown'
  }
}

export function asRejected(error: unknown): Rejected {
  return error instanceof Rejected
    ? error
    : new Rejected(messageOf(error), { ...codeOf(error), cause: error })
}

export function asNotExecuted(error: unknown): NotExecuted {
  if (error instanceof NotExecuted) return error
  const retryAfterMs = retryAfterMsOf(error)
  return new NotExecuted(messageOf(error), { ...codeOf(error), retryAfterMs, cause: error })
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function codeOf(error: unknown): Pick<VerdictOptions, 'code'> {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' && code !== '' ? { code } : {}
}

const TRANSIENT_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENETUNREACH',
  'EHOSTUNREACH',
  'UND_ERR_SOCKET',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
])
const TRANSIENT_STATUS = new Set([408, 409, 425, 429, 500, 502, 503, 504, 529])

/** Does it look as if the same call could succeed a little later? */
export function isTransient(error: unknown): boolean {
  if (isTimeout(error)) return true
  if (error instanceof IbidError) return error.retriable
  const code = fieldOf(error, 'code') ?? fieldOf(fieldOf(error, 'cause'), 'code')
  const status = statusOf(error)
  return TRANSIENT_CODES.has(String(code)) || (status !== undefined && TRANSIENT_STATUS.has(status))
}

function isTimeout(error: unknown): boolean {
  const name = fieldOf(error, 'name')
  return error instanceof TryTimeout || name === 'TimeoutError' || name === 'AbortError'
}

/**
 * `classify` for a tool whose `execute` makes exactly one HTTP request and throws errors that carry its status:
 * refused by the server is rejected; 401, 403 and 429 and a connection that never was are not executed; all else is
 * unknown. Wrong for a tool that makes two requests: the second's 404 says nothing about the first.
 */
export function oneHttpCall(error: unknown): FailureKind | undefined {
  const code = String(fieldOf(error, 'code') ?? fieldOf(fieldOf(error, 'cause'), 'code'))
  if (NEVER_SENT.has(code)) return 'not-executed'
  const status = statusOf(error)
  if (status === undefined || status < 400 || status >= 500) return undefined
  if (status === 401 || status === 403 || status === 429) return 'not-executed'
  return status === 408 || status === 409 || status === 425 ? undefined : 'rejected'
}

const NEVER_SENT = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT'])

/** When the downstream wants to be asked again, where it said so: `Retry-After`, in seconds or as a date. */
export function retryAfterMsOf(error: unknown, nowMs = Date.now()): number | undefined {
  if (error instanceof IbidError) return error.retryAfterMs
  const headers = fieldOf(error, 'headers') ?? fieldOf(fieldOf(error, 'response'), 'headers')
  const said = headers instanceof Headers ? headers.get('retry-after') : fieldOf(headers, 'retry-after')
  const given = said ?? fieldOf(error, 'retryAfter')
  if (typeof given !== 'string' && typeof given !== 'number') return undefined
  const seconds = Number(given)
  const ms = Number.isFinite(seconds) ? seconds * 1_000 : Date.parse(String(given)) - nowMs
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined
}

function statusOf(error: unknown): number | undefined {
  const status =
    fieldOf(error, 'status') ?? fieldOf(error, 'statusCode') ?? fieldOf(fieldOf(error, 'response'), 'status')
  return typeof status === 'number' ? status : undefined
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined
}
