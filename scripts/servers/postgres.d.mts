/** The Postgres server of a test: see postgres.mjs. */
export interface PostgresServer {
  readonly url: string
  readonly port: number
  readonly pid: number
  readonly folder: string
  readonly data: string
  readonly bin: string
  kill(): Promise<number>
  start(): Promise<void>
  restart(): Promise<void>
  suspend(): void
  resume(): void
  set(settings: Readonly<Record<string, string | number>>, options?: { restart?: boolean }): Promise<void>
  output(): string
  stop(): Promise<void>
  startStandby(options?: {
    name?: string
    settings?: Readonly<Record<string, string | number>>
  }): Promise<PostgresServer & { promote(): Promise<void> }>
}

export function startPostgres(options?: {
  settings?: Readonly<Record<string, string | number>>
  password?: string
}): Promise<PostgresServer>
