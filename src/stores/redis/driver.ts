/**
 * The little that the store needs of a Redis client, so that either library can serve it, on one server or on a
 * cluster. A driver retries nothing; redirections inside a cluster are followed by the client libraries.
 */
import { invalidStore } from './faults.js'
import { type IoredisClient, type IoredisCluster, ioredisDriver } from './ioredis.js'
import { type NodeRedisClient, type NodeRedisCluster, nodeRedisDriver } from './node-redis.js'

/** Text, or bytes where there are many. */
export type Argument = string | Buffer
/** What a script returns. */
export type Answer = readonly (string | number | null)[]

export interface Driver {
  readonly client: 'ioredis' | 'redis'
  readonly isCluster: boolean
  /** One command, to the master that has `key`. Commands of one key arrive in order. Rejects, and never throws. */
  send(key: string, name: string, args: Argument[]): Promise<unknown>
  /** The same command on every master. */
  sendToAll(name: string, args: Argument[]): Promise<readonly unknown[]>
  /** How many connections have been lost so far: what a connection remembers is lost with it. */
  losses(): number
  /** On a connection of its own, made again by itself when it is lost. Resolves to what ends it. */
  subscribe(channel: string, listener: (message: string) => void): Promise<() => void>
  /** Ends the connections that it made, and only those. */
  close(): Promise<void>
}

/** A client of the caller's; which kind is seen by its shape. */
export type RedisConnection = string | IoredisClient | IoredisCluster | NodeRedisClient | NodeRedisCluster

export function driverOf(client: Exclude<RedisConnection, string>): Driver {
  if (hasMethod(client, 'call')) return ioredisDriver(client as IoredisClient | IoredisCluster)
  if (hasMethod(client, 'sendCommand')) return nodeRedisDriver(client as NodeRedisClient | NodeRedisCluster)
  throw invalidStore(
    'redisStore got neither a URL nor a client that it knows',
    "give it 'redis://…', 'rediss://…', a client or cluster of `ioredis`, or one of `redis`",
  )
}

function hasMethod(client: unknown, name: string): boolean {
  return (
    typeof client === 'object' &&
    client !== null &&
    typeof (client as Record<string, unknown>)[name] === 'function'
  )
}
