/** What can go wrong with a server: which of its codes are worth another try, and what is said about the rest. */
import { IbidError, NotExecuted, Rejected } from '../../core/errors.js'

export function sqlState(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : undefined
}

/** Deadlock, serialization failure: the server undid the statement, and it may be sent again. */
export function wasUndone(error: unknown): boolean {
  const state = sqlState(error)
  return state === '40P01' || state === '40001'
}

/** A lock was not to be had in time. */
export function wasLocked(error: unknown): boolean {
  return sqlState(error) === '55P03'
}

/** Somebody else's insert came first: nothing of the statement was kept. */
export function wasTaken(error: unknown): boolean {
  return sqlState(error) === '23505'
}

/** A value that the server has no room or no letters for: nothing of the statement was kept. */
export function wasRefused(error: unknown): boolean {
  return sqlState(error)?.startsWith('22') === true
}

/**
 * The connection is of no more use: everything but an error that the server reports and goes on after, and what work
 * says of itself.
 */
export function brokeConnection(error: unknown): boolean {
  if (error instanceof Rejected || error instanceof NotExecuted) return false
  const state = sqlState(error)
  const severity = (error as { severity?: unknown } | null | undefined)?.severity
  return state === undefined || severity === 'FATAL' || severity === 'PANIC' || state.startsWith('57P')
}

/** The time of a caller's work was up, or its lease was lost: it was told, and may still be at it. */
export function wasLeftBehind(error: unknown): boolean {
  return error instanceof IbidError && (error.code === 'UPSTREAM_TIMEOUT' || error.code === 'LEASE_LOST')
}

/** The server is a replica, or became one. */
export function isReplica(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code
  return code === '25006' || code === 'POSTGRES_REPLICA'
}

export function replica(): IbidError {
  return new IbidError('this Postgres server is a replica: claims are never read from one', {
    code: 'POSTGRES_REPLICA',
    retriable: true,
    action:
      'point the store at the primary, or name all servers in the URL: postgres://user@host1,host2/database',
  })
}

export function locked(): IbidError {
  return new IbidError('another transaction holds a lock on a receipt of this batch', {
    code: 'STORE_UNAVAILABLE',
    retriable: true,
    action: 'repeat the same call with the same key; look in pg_locks for who holds the lock',
  })
}

export function tooBusy(): IbidError {
  return new IbidError('the receipt kept changing under this claim', {
    code: 'STORE_UNAVAILABLE',
    retriable: true,
    action: 'repeat the same call with the same key',
  })
}

const NOT_REPLICATED = 'the commit was kept from waiting for its synchronous standby: a failover may lose it'

export function notReplicated(): IbidError {
  return new IbidError(NOT_REPLICATED, {
    code: 'STORE_UNAVAILABLE',
    retriable: true,
    action: 'repeat the same call with the same key',
  })
}

export function wasNotReplicated(error: unknown): boolean {
  return error instanceof IbidError && error.message === NOT_REPLICATED
}

export function notCommitted(): IbidError {
  return new IbidError('a statement of this transaction failed, so it was rolled back; nothing was written', {
    code: 'INVALID_INTENT',
    retriable: false,
    action:
      'await everything that is asked of the client before the work returns, and let its errors through',
  })
}

export function timedOut(afterMs: number): IbidError {
  return new IbidError(`the Postgres server did not answer within ${afterMs} ms`, {
    code: 'STORE_UNAVAILABLE',
    retriable: true,
    action: 'repeat the same call with the same key once the server is back',
  })
}

export function notConnected(afterMs: number): IbidError {
  return new IbidError(`the pool gave no connection to the Postgres server within ${afterMs} ms`, {
    code: 'STORE_UNAVAILABLE',
    retriable: true,
    action:
      'repeat the same call with the same key once the server is back, or give the pool more connections',
  })
}

export function invalidConnection(message: string): IbidError {
  return new IbidError(`${message}; nothing was executed`, {
    code: 'INVALID_INTENT',
    retriable: false,
    action:
      "give postgresStore a URL such as 'postgres://user@host/database', a pool of pg, or a client of postgres",
  })
}

export function noClientLibrary(cause: unknown): IbidError {
  return new IbidError('the package pg is not installed; nothing was executed', {
    code: 'INVALID_INTENT',
    retriable: false,
    action: 'npm install pg, or give postgresStore a client of postgres',
    cause,
  })
}

export function notMigrated(schema: string, version: number): IbidError {
  const there = version === 0 ? 'has no tables of ibid' : `is at version ${version}`
  return new IbidError(
    `schema ${schema} ${there}, and the store was told not to migrate; nothing was executed`,
    {
      code: 'VERSION_MISMATCH',
      retriable: false,
      action: 'run the SQL that migrations() gives, or leave out migrate: false',
    },
  )
}

export function tooNew(schema: string, version: number, newest: number): IbidError {
  return new IbidError(
    `schema ${schema} is at version ${version}, and this ibid knows only ${newest}; nothing was executed`,
    {
      code: 'VERSION_MISMATCH',
      retriable: false,
      action: 'update ibid: a newer one has migrated this schema',
    },
  )
}
