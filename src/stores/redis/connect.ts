/**
 * From a URL to a driver, with whichever client library is installed. Connections fail fast and come back by
 * themselves: nothing waits in a queue for a server that is gone. A URL of one node is enough for a cluster.
 */
import type { ConnectionOptions } from 'node:tls'
import { IbidError } from '../../core/errors.js'
import type { Driver } from './driver.js'
import { invalidStore, isRefusal } from './faults.js'
import { type IoredisClient, type IoredisCluster, ioredisDriver } from './ioredis.js'
import { type NodeRedisClient, type NodeRedisCluster, nodeRedisDriver } from './node-redis.js'

export interface ConnectOptions {
  readonly timeoutMs: number
  /** What the slowest answer may take: every call that waits on a connection that is silent for longer was given up. */
  readonly silentMs: number
  /** Given to the client as it is: certificates, `servername`, … */
  readonly tls?: ConnectionOptions | undefined
  /** Nobody wants the connection any more. */
  readonly signal: AbortSignal
}

const LONGEST_PAUSE_MS = 1_000

/** Pauses between attempts to connect: short at first, never long. */
function pauseMs(attempts: number): number {
  return Math.min(25 * 2 ** Math.min(attempts, 10), LONGEST_PAUSE_MS)
}

/** Refuses what is no URL of a Redis server; never repeats it, because it may hold a password. */
export function readUrl(url: string): URL {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (parsed && (parsed.protocol === 'redis:' || parsed.protocol === 'rediss:')) return parsed
  throw invalidStore(
    'the URL given to redisStore is not one of a Redis server',
    'write it as redis://user:password@host:6379/0, or rediss:// for TLS',
  )
}

export async function connect(url: URL, options: ConnectOptions): Promise<Driver> {
  const ioredis = await load<Ioredis>(() => import('ioredis'))
  if (ioredis) return connectIoredis(ioredis, url, options)
  const nodeRedis = await load<NodeRedis>(() => import('redis'))
  if (nodeRedis) return connectNodeRedis(nodeRedis, url, options)
  throw new IbidError('a redis:// URL needs a client library, and none is installed; nothing was executed', {
    code: 'STORE_UNAVAILABLE',
    retriable: false,
    action: 'npm install ioredis, or npm install redis',
  })
}

interface Ioredis {
  readonly Redis: new (url: string, options: object) => IoredisClient
  readonly Cluster: new (nodes: string[], options: object) => IoredisCluster
}

async function connectIoredis(
  { Redis, Cluster }: Ioredis,
  url: URL,
  options: ConnectOptions,
): Promise<Driver> {
  const { timeoutMs, silentMs, tls, signal } = options
  const settings = {
    connectTimeout: timeoutMs,
    // Counts only while an answer is awaited: what died without a word is replaced, what is idle is left alone.
    socketTimeout: silentMs,
    retryStrategy: pauseMs,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    ...(tls || url.protocol === 'rediss:' ? { tls: { ...tls } } : {}),
  }
  signal.throwIfAborted()
  const single = ioredisDriver(new Redis(url.href, settings), true)
  if (!(await whileWanted(signal, single, isCluster(single)))) return single
  await single.close()
  const { username, password } = url
  const redisOptions = {
    ...settings,
    ...(username ? { username: decodeURIComponent(username) } : {}),
    ...(password ? { password: decodeURIComponent(password) } : {}),
  }
  const cluster = new Cluster([`${url.protocol}//${url.host}`], {
    redisOptions,
    clusterRetryStrategy: pauseMs,
    slotsRefreshTimeout: timeoutMs,
  })
  return ioredisDriver(cluster, true)
}

interface NodeRedis {
  createClient(options: object): unknown
  createCluster(options: object): unknown
}

async function connectNodeRedis(library: NodeRedis, url: URL, options: ConnectOptions): Promise<Driver> {
  const { timeoutMs, tls, signal } = options
  const settings = {
    disableOfflineQueue: true,
    socket: {
      connectTimeout: timeoutMs,
      reconnectStrategy: pauseMs,
      ...(tls ? { tls: true, ...tls } : {}),
    },
  }
  signal.throwIfAborted()
  const client = library.createClient({ url: url.href, ...settings }) as NodeRedisClient
  const single = nodeRedisDriver(client, true)
  if (!(await whileWanted(signal, single, isCluster(single)))) return single
  await single.close()
  const { username, password } = url
  const credentials = password
    ? { username: decodeURIComponent(username), password: decodeURIComponent(password) }
    : {}
  const cluster = library.createCluster({
    rootNodes: [{ url: `${url.protocol}//${url.host}` }],
    defaults: { ...settings, ...credentials },
  })
  return nodeRedisDriver(cluster as NodeRedisCluster, true)
}

/**
 * Closes the driver where the question is not answered. Who may not ask is taken to be on a single server: `check`
 * says what else is not known then.
 */
async function isCluster(driver: Driver): Promise<boolean> {
  try {
    return /cluster_enabled:1/.test(String(await driver.send('', 'INFO', ['cluster'])))
  } catch (error) {
    if (isRefusal(error)) return false
    await driver.close()
    throw error
  }
}

/**
 * As long as it is wanted: `ioredis` gives up by itself when no server is there, but not while one says nothing, and
 * `redis` never does.
 */
async function whileWanted<T>(signal: AbortSignal, driver: Driver, work: Promise<T>): Promise<T> {
  const onAbort = (): void => void driver.close()
  signal.addEventListener('abort', onAbort)
  try {
    return await work
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

async function load<T>(module: () => Promise<unknown>): Promise<T | undefined> {
  try {
    return (await module()) as T
  } catch (error) {
    if ((error as { code?: string }).code === 'ERR_MODULE_NOT_FOUND') return undefined
    throw error
  }
}
