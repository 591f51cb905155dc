/**
 * The parts of other people's clients that are used, so that nobody needs their types: of `pg`, and of `postgres`
 * (postgres.js). Which one was given is told by its shape.
 */

export interface PgResult {
  /** What the server says that it did: a commit after a statement that failed is answered with ROLLBACK. */
  readonly command?: string
  readonly rows: readonly unknown[]
}

export interface PgQuery {
  readonly text: string
  readonly name?: string
  readonly values?: unknown[]
  readonly rowMode?: 'array'
  readonly queryMode?: 'extended'
  readonly query_timeout?: number
}

export interface PgClient {
  query(query: PgQuery): Promise<PgResult>
  on(event: string, listener: (argument: never) => void): unknown
  removeListener(event: string, listener: (argument: never) => void): unknown
  release(error?: Error | boolean): void
  unref?(): void
}

export interface PgPool {
  readonly options?: { readonly max?: number; readonly connectionTimeoutMillis?: number }
  connect(): Promise<PgClient>
  end(): Promise<void>
  on(event: 'error' | 'acquire', listener: (argument: never) => void): unknown
  removeListener(event: 'error' | 'acquire', listener: (argument: never) => void): unknown
}

/** What `new pg.Pool(…)` takes: `host`, `ssl`, `password` and so on are passed on as they are. */
export interface PgPoolConfig {
  readonly connectionString?: string
  readonly max?: number
  readonly [option: string]: unknown
}

export interface PostgresJsQuery extends Promise<readonly Readonly<Record<string, unknown>>[]> {
  values(): Promise<readonly (readonly unknown[])[]>
  simple(): Promise<unknown>
}

export interface PostgresJsTransaction {
  unsafe(
    text: string,
    params?: unknown[],
    options?: { readonly prepare?: boolean; readonly simple?: boolean },
  ): PostgresJsQuery
}

export interface PostgresJs extends PostgresJsTransaction {
  begin(options: string, work: (sql: never) => Promise<unknown>): Promise<unknown>
  listen(
    channel: string,
    hear: (payload: string) => void,
  ): Promise<{ readonly unlisten: () => Promise<unknown> }>
  end(options?: { readonly timeout?: number }): Promise<unknown>
}

/** Clients as they are given: only what tells them apart, because their own types say the rest in other words. */
export interface PgPoolLike {
  connect(...given: never[]): unknown
  end(...given: never[]): unknown
  on(...given: never[]): unknown
}

export interface PostgresJsLike {
  (...given: never[]): unknown
  unsafe(...given: never[]): unknown
  begin(...given: never[]): unknown
  listen(...given: never[]): unknown
}

export type PostgresConnection = string | PgPoolLike | PgPoolConfig | PostgresJsLike

export function asPostgresJs(given: PostgresConnection): PostgresJs | undefined {
  const is = typeof given === 'function' && typeof (given as Partial<PostgresJs>).unsafe === 'function'
  return is ? (given as unknown as PostgresJs) : undefined
}

export function asPool(given: PgPoolLike | PgPoolConfig | PostgresJsLike): PgPool | undefined {
  return typeof (given as Partial<PgPool>).connect === 'function' ? (given as unknown as PgPool) : undefined
}
