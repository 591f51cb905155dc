export interface RedisServer {
  readonly url: string
  readonly port: number
  readonly folder: string
  /** Changes with every restart. */
  readonly pid: number
  kill(): Promise<void>
  restart(): Promise<void>
  replica(settings?: Readonly<Record<string, string | number>>): Promise<RedisServer>
  cli(...words: readonly (string | number)[]): Promise<string>
  stop(): Promise<void>
}

export interface RedisCluster {
  readonly nodes: readonly RedisServer[]
  readonly url: string
  stop(): Promise<unknown>
}

export interface RedisStartOptions {
  readonly settings?: Readonly<Record<string, string | number>>
}

export function freePort(): Promise<number>
export function startRedis(options?: RedisStartOptions): Promise<RedisServer>
export function startRedisCluster(options?: RedisStartOptions): Promise<RedisCluster>
