/**
 * `ioredis` as a driver. Only what is used of it is typed here, so that the library stays optional.
 * Its cluster sends again by itself what was on a connection that broke: a script may then run twice, which the
 * seam allows, because a second run of the same claim or swap finds the token of the first.
 */
import { closed } from '../../core/errors.js'
import type { Argument, Driver } from './driver.js'
import { unavailable } from './faults.js'
import { slotOf } from './slot.js'

interface Common {
  call(command: string, args: Argument[]): Promise<unknown>
  on(event: string, listener: (...args: unknown[]) => void): unknown
  off(event: string, listener: (...args: unknown[]) => void): unknown
  subscribe(...channels: string[]): Promise<unknown>
  disconnect(): void
}

export interface IoredisClient extends Common {
  readonly options: { readonly host?: string | undefined; readonly port?: number | undefined }
  duplicate(override: Patient): Common
}

export interface IoredisCluster extends Common {
  readonly options: { readonly keyPrefix?: string | Buffer | undefined }
  readonly slots: readonly (readonly string[])[]
  nodes(role?: 'master'): readonly IoredisClient[]
  duplicate(nodes: [], override: Patient): Common
}

/** A subscription is asked for before the connection is up, whatever the program's own client does with that. */
const PATIENT = { enableOfflineQueue: true } as const
type Patient = typeof PATIENT

/** Without a listener a lost connection would end the process; the commands it failed say so themselves. */
const onError = (): void => {}

/** `owned`: the store made the client, and ends it. */
export function ioredisDriver(client: IoredisClient | IoredisCluster, owned = false): Driver {
  const cluster = 'nodes' in client ? client : undefined
  const single = client as IoredisClient
  const subscribers = new Set<Common>()
  let losses = 0
  let isClosed = false

  const onClose = (): void => void losses++
  const onNode = (node: unknown): void => void (node as IoredisClient).on('close', onClose)
  client.on('close', onClose)
  if (owned) client.on('error', onError)
  if (cluster) {
    cluster.on('+node', onNode)
    for (const node of cluster.nodes()) onNode(node)
  }

  /** WAIT has no key: it is sent where the scripts of `key` were, under the prefix that the client gives to keys. */
  async function sendWait(key: string, args: Argument[]): Promise<unknown> {
    if (!cluster) return client.call('WAIT', args)
    const slot = slotOf(`${cluster.options.keyPrefix?.toString() ?? ''}${key}`)
    const master = cluster.slots[slot]?.[0]
    const node = cluster.nodes('master').find(({ options }) => `${options.host}:${options.port}` === master)
    // Any other would answer for its own replicas, which have never heard of the write.
    if (!node) throw unavailable('written, but no master is known for it now, so no replica could be asked')
    return node.call('WAIT', args)
  }

  return {
    client: 'ioredis',
    isCluster: cluster !== undefined,
    send: async (key, name, args) => await (name === 'WAIT' ? sendWait(key, args) : client.call(name, args)),
    async sendToAll(name, args) {
      const masters = cluster ? cluster.nodes('master') : [client]
      return Promise.all(masters.map((master) => master.call(name, args)))
    },
    losses: () => losses,
    async subscribe(channel, listener) {
      if (isClosed) throw closed()
      const subscriber = cluster ? cluster.duplicate([], PATIENT) : single.duplicate(PATIENT)
      subscriber.on('error', onError)
      subscriber.on('message', (_channel, message) => listener(String(message)))
      subscribers.add(subscriber)
      const end = (): void => {
        if (subscribers.delete(subscriber)) subscriber.disconnect()
      }
      await subscriber.subscribe(channel).catch((error: unknown) => {
        end()
        throw error
      })
      return end
    },
    async close() {
      // Ended again, a connection that is gone would keep the program for two more seconds.
      if (isClosed) return
      isClosed = true
      for (const subscriber of subscribers) subscriber.disconnect()
      subscribers.clear()
      client.off('close', onClose)
      cluster?.off('+node', onNode)
      for (const node of cluster?.nodes() ?? []) node.off('close', onClose)
      if (owned) client.disconnect()
    },
  }
}
