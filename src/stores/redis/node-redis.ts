/** `redis`, also called node-redis, as a driver. Only what is used of it is typed here, so that it stays optional. */
import { setTimeout as sleep } from 'node:timers/promises'
import { closed } from '../../core/errors.js'
import type { Argument, Driver } from './driver.js'

interface Common {
  readonly isOpen: boolean
  connect(): Promise<unknown>
  on(event: string, listener: (...args: unknown[]) => void): unknown
  off(event: string, listener: (...args: unknown[]) => void): unknown
  subscribe(channel: string, listener: (message: string) => void): Promise<unknown>
  destroy(): unknown
}

export interface NodeRedisClient extends Common {
  sendCommand(args: readonly Argument[], options?: { typeMapping?: object }): Promise<unknown>
  duplicate(): Common
}

export interface NodeRedisCluster extends Common {
  sendCommand(
    firstKey: string | undefined,
    isReadonly: boolean | undefined,
    args: Argument[],
    options?: { typeMapping?: object },
  ): Promise<unknown>
  readonly masters: readonly object[]
  nodeClient(node: never): Promise<NodeRedisClient>
  duplicate(): Common
}

/** Answers as plain text, whatever the caller's client is set to. */
const PLAIN = { typeMapping: {} }

const openings = new WeakMap<object, Promise<unknown>>()

/** A cluster whose nodes cannot be reached would be on its way for ever. */
const MOST_ON_ITS_WAY_MS = 5_000

/** Without a listener a lost connection would end the process; the commands it failed say so themselves. */
const onError = (): void => {}

/** `owned`: the store made the client, and ends it. */
export function nodeRedisDriver(client: NodeRedisClient | NodeRedisCluster, owned = false): Driver {
  const cluster = 'nodeClient' in client ? client : undefined
  /** The clients that it made, and how each is ended. */
  const ends = new Map<Common, () => void>()
  const arrivals = new Map<Common, Promise<unknown>>()
  let losses = 0
  let isClosed = false

  const onLoss = (): void => void losses++
  const lossEvents = cluster ? ['node-disconnect', 'node-reconnecting'] : ['reconnecting', 'end']
  for (const event of lossEvents) client.on(event, onLoss)
  if (owned) own(client)

  function own(one: Common): void {
    one.on('error', onError)
    ends.set(one, cluster ? () => void endArrived(one, arrivals.get(one)) : enderOf(one))
  }

  /** Remembers what is on its way, as long as it is. */
  function arriving<T>(one: Common, arrival: Promise<T>): Promise<T> {
    arrivals.set(one, arrival)
    return arrival.finally(() => arrivals.delete(one))
  }

  /**
   * A client that nobody has connected yet is connected here, once for all stores that share it. What is sent after
   * `close` must not connect it again: nobody would end it.
   */
  function opened(): Promise<unknown> | undefined {
    if (isClosed) throw closed()
    const opening = openings.get(client)
    if (opening || client.isOpen) return opening
    const started = arriving(client, client.connect()).finally(() => openings.delete(client))
    openings.set(client, started)
    return started
  }

  async function send(key: string, name: string, rest: Argument[]): Promise<unknown> {
    await opened()
    const args = [name, ...rest]
    return cluster
      ? cluster.sendCommand(key, false, args, PLAIN)
      : (client as NodeRedisClient).sendCommand(args, PLAIN)
  }

  return {
    client: 'redis',
    isCluster: cluster !== undefined,
    send,
    async sendToAll(name, rest) {
      if (!cluster) return [await send('', name, rest)]
      const args = [name, ...rest]
      await opened()
      const nodes = await Promise.all(cluster.masters.map((node) => cluster.nodeClient(node as never)))
      return Promise.all(nodes.map((node) => node.sendCommand(args, PLAIN)))
    },
    losses: () => losses,
    async subscribe(channel, listener) {
      if (isClosed) throw closed()
      const subscriber = client.duplicate()
      own(subscriber)
      const end = (): void => {
        const over = ends.get(subscriber)
        ends.delete(subscriber)
        if (subscriber.isOpen) over?.()
      }
      try {
        const subscribed = subscriber
          .connect()
          .then(async () => await subscriber.subscribe(channel, listener))
        await arriving(subscriber, subscribed)
        if (isClosed) throw closed()
        return end
      } catch (error) {
        end()
        throw error
      }
    },
    async close() {
      isClosed = true
      for (const event of lossEvents) client.off(event, onLoss)
      for (const [one, end] of ends) if (one.isOpen) end()
    },
  }
}

/**
 * A cluster that is destroyed while it finds its nodes, or makes the connection that it listens on, leaves sockets
 * behind as well; it does not say when one arrives, so it is let finish as a whole.
 */
async function endArrived(cluster: Common, arrival: Promise<unknown> | undefined): Promise<void> {
  const arrived = arrival?.catch(() => {})
  if (arrived) await Promise.race([arrived, sleep(MOST_ON_ITS_WAY_MS, undefined, { ref: false })])
  if (cluster.isOpen) cluster.destroy()
}

/**
 * A client that is destroyed while its socket is on the way forgets the socket (seen with 6.3), which then keeps the
 * program from ending: so it is let arrive, or fail, first.
 */
function enderOf(client: Common): () => void {
  let isOnItsWay = true
  let isEnding = false
  const onArrival = (): void => {
    isOnItsWay = false
    if (isEnding && client.isOpen) client.destroy()
  }
  client.on('connect', onArrival)
  client.on('error', onArrival)
  client.on('reconnecting', () => void (isOnItsWay = true))
  return () => {
    isEnding = true
    if (!isOnItsWay) client.destroy()
  }
}
