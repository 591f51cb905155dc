/** When a process begins to listen for settlements, and when it stops. */
import { EventEmitter, once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createLayout } from '../../src/stores/redis/layout.js'
import type { Driver } from '../../src/stores/redis/driver.js'
import { nodeRedisDriver } from '../../src/stores/redis/node-redis.js'
import { createWatch } from '../../src/stores/redis/watch.js'

const ADDRESS = { tenant: 'acme', scope: 'pay', key: 'k' }
const DIGEST = 'd'.repeat(22)

/** A driver whose subscriptions are made when the test says so. */
function bench() {
  const subscriptions: { arrive(): void; hear(message: string): void; isOver: boolean }[] = []
  const driver = {
    subscribe: async (_channel: string, hear: (message: string) => void) =>
      new Promise<() => void>((resolve) => {
        const one = { arrive: () => resolve(() => void (one.isOver = true)), hear, isOver: false }
        subscriptions.push(one)
      }),
  } as unknown as Driver
  return { subscriptions, session: { ready: async () => ({ driver, layout: createLayout('ibid', 1) }) } }
}

describe('a process listens', () => {
  it('[R6] from the first receipt it was told is pending, and hears of what ended meanwhile', async () => {
    const { subscriptions, session } = bench()
    const watch = createWatch(session)
    const woken: unknown[] = []
    watch.add((address) => woken.push(address))
    await sleep(5)
    expect(subscriptions).toHaveLength(0)
    watch.remember(DIGEST, ADDRESS)
    await sleep(5)
    expect([subscriptions.length, woken]).toEqual([1, []])
    subscriptions[0]?.arrive()
    await sleep(5)
    expect(woken).toEqual([ADDRESS])
    subscriptions[0]?.hear(DIGEST)
    subscriptions[0]?.hear(DIGEST)
    expect(woken).toEqual([ADDRESS, ADDRESS])
    watch.close()
  })

  it('until it was told of none for a while, and again from the next', async () => {
    const { subscriptions, session } = bench()
    const watch = createWatch(session, 20)
    watch.add(() => {})
    watch.remember(DIGEST, ADDRESS)
    await sleep(1)
    subscriptions[0]?.arrive()
    await expect.poll(() => subscriptions[0]?.isOver, { timeout: 20_000 }).toBe(true)
    watch.remember(DIGEST, ADDRESS)
    await expect.poll(() => subscriptions.length, { timeout: 20_000 }).toBe(2)
    watch.close()
  })

  it('no longer than it was told of something, though no server lets it listen', async () => {
    let tried = 0
    const refused = async (): Promise<never> => {
      tried++
      throw new TypeError('refused')
    }
    const watch = createWatch({ ready: refused }, 20)
    watch.add(() => {})
    watch.remember(DIGEST, ADDRESS)
    await sleep(2_500)
    expect(tried).toBe(1)
    watch.close()
  })
})

/** A client of node-redis whose connection is lost and found when the test says so. */
class Subscriber extends EventEmitter {
  isOpen = true
  destroyed = 0
  duplicate = (): this => this
  subscribe = async (): Promise<void> => {}
  async connect(): Promise<void> {
    this.emit('connect')
  }
  destroy(): void {
    this.destroyed++
    this.isOpen = false
  }
}

it('a subscription of node-redis that ends while its connection is being made anew is not left behind', async () => {
  const client = new Subscriber()
  const end = await nodeRedisDriver(client as never).subscribe('channel', () => {})
  client.emit('reconnecting')
  end()
  // Destroyed now, it would forget the socket, which would arrive, and stay.
  expect(client.destroyed).toBe(0)
  client.emit('connect')
  expect(client.destroyed).toBe(1)
})

/** A cluster of node-redis that has found its nodes, and listens, when the test says so. */
class Cluster extends Subscriber {
  nodeClient = (): void => {}
  override async connect(): Promise<void> {
    await once(this, 'found')
  }
  override subscribe = async (): Promise<void> => {
    await once(this, 'listening')
  }
}

it('[R12] a cluster of node-redis that is closed on its way to listen is let arrive, and ended then', async () => {
  const cluster = new Cluster()
  const driver = nodeRedisDriver(cluster as never)
  const listening = driver.subscribe('channel', () => {}).catch((error: unknown) => error)
  await driver.close()
  cluster.emit('found')
  await sleep(5)
  expect(cluster.destroyed).toBe(0)
  cluster.emit('listening')
  expect(await listening).toMatchObject({ code: 'CLOSED' })
  expect(cluster.destroyed).toBe(1)
})
