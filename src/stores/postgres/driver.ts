/**
 * What the store needs of a client library, and nothing else. Two implementations: driver-pg.ts, for a URL, a pool
 * configuration or a pool of `pg`, and driver-postgres-js.ts, for a client of `postgres`.
 */
import type { Row } from './rows.js'
import type { Statement } from './statements.js'

export interface Session {
  /** Prepared under its name, rows as arrays. Rejects when the server does not answer in time. */
  run(statement: Statement, params: readonly unknown[]): Promise<readonly Row[]>
}

/** A transaction that was begun: the store's own statements, and the caller's. */
export interface TransactionSession<Client = unknown> extends Session {
  query(text: string, params: readonly unknown[]): Promise<readonly Readonly<Record<string, unknown>>[]>
  readonly client: Client
}

export interface Driver extends Session {
  /** The sessions are ours, with the settings that the store wants: see session.ts. */
  readonly own: boolean
  /** What the server answers to a commit is seen, and its warnings: a commit was kept from waiting for its standby. */
  readonly seesCommits: boolean
  /** Several statements in one message, without parameters, which makes them one transaction. */
  script(text: string): Promise<void>
  /** READ COMMITTED, on a connection of its own; commits when `work` resolves, otherwise rolls back. */
  begin<T>(work: (session: TransactionSession) => Promise<T>): Promise<T>
  /** Hears what is notified, over reconnects, until it is stopped. Undefined: there is no connection for that. */
  listen(channel: string, hear: (payload: string) => void): (() => void) | undefined
  close(): Promise<void>
}
