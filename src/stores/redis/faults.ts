/**
 * What a caller is told when Redis cannot answer. Client libraries hang the failed command on their errors, with
 * its arguments: a password, a payload. So no error of theirs goes on, only what it says.
 */
import { IbidError } from '../../core/errors.js'

export function fault(error: unknown): IbidError {
  return error instanceof IbidError ? error : unavailable(reasonOf(error))
}

export function unavailable(reason: string): IbidError {
  return new IbidError(`redis: ${reason}`, {
    code: 'STORE_UNAVAILABLE',
    retriable: true,
    retryAfterMs: 1_000,
    action: 'repeat the same call with the same key once the server is back',
  })
}

/** What a program gave to `redisStore` cannot work. */
export function invalidStore(message: string, action: string): IbidError {
  return new IbidError(`${message}; nothing was executed`, {
    code: 'INVALID_INTENT',
    retriable: false,
    action,
  })
}

export function isError(error: unknown, start: string): boolean {
  return error instanceof Error && error.message.startsWith(start)
}

/** A command that this user may not run, or that the service has taken away. Anything else is a real failure. */
export function isRefusal(error: unknown): boolean {
  return error instanceof Error && /NOPERM|unknown command|not allowed|disabled/i.test(error.message)
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'the client failed without saying why'
  if (error.name === 'MaxRetriesPerRequestError') return 'the server cannot be reached'
  const { code } = error as { code?: unknown }
  return error.message || (typeof code === 'string' ? code : error.name)
}
